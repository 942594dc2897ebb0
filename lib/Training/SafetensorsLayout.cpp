//===- SafetensorsLayout.cpp - what stands where in a file to be written -===//

#include "SafetensorsLayout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace zero::training {

llvm::Expected<SafetensorsLayout> layOut(llvm::StringRef path, llvm::ArrayRef<TensorSpec> specs,
                                         const std::map<std::string, std::string> &metadata) {
  SafetensorsLayout layout;
  llvm::StringSet<> names;
  for (auto [index, spec] : llvm::enumerate(specs)) {
    if (spec.name == "__metadata__" || !llvm::json::isUTF8(spec.name) ||
        !names.insert(spec.name).second)
      return inputError(path,
                        "expects tensors with different names in UTF-8, got " + quoted(spec.name));
    int64_t bytes = byteSize(spec.type);
    for (int64_t extent : spec.shape)
      if (extent < 0 || llvm::MulOverflow(bytes, extent, bytes))
        return inputError(path, "expects tensor " + quoted(spec.name) +
                                    " to have less than 2^63 bytes, got shape " +
                                    shapeText(spec.shape));
    layout.bytes.push_back(bytes);
    layout.order.push_back(index);
  }
  llvm::sort(layout.order, [&](size_t a, size_t b) {
    int64_t wide = byteSize(specs[a].type), otherWide = byteSize(specs[b].type);
    return wide != otherWide ? wide > otherWide : specs[a].name < specs[b].name;
  });

  std::string header;
  llvm::raw_string_ostream os(header);
  llvm::json::OStream json(os);
  bool overflow = false;
  json.object([&] {
    if (!metadata.empty())
      json.attributeObject("__metadata__", [&] {
        for (const auto &[key, value] : metadata)
          json.attribute(key, value);
      });
    for (size_t index : layout.order) {
      int64_t begin = layout.dataBytes;
      overflow |= llvm::AddOverflow(begin, layout.bytes[index], layout.dataBytes);
      json.attributeObject(specs[index].name, [&] {
        json.attribute("dtype", name(specs[index].type));
        json.attributeArray("shape", [&] {
          for (int64_t extent : specs[index].shape)
            json.value(extent);
        });
        json.attributeArray("data_offsets", [&] {
          json.value(begin);
          json.value(layout.dataBytes);
        });
      });
    }
  });
  os.flush();
  if (overflow)
    return inputError(path, "expects less than 2^63 bytes in all tensors together");
  header.resize(llvm::alignTo(header.size(), 8), ' ');
  if (header.size() > kMaxHeaderBytes)
    return inputError(path, "expects a header of at most " + llvm::Twine(kMaxHeaderBytes) +
                                " bytes, got " + llvm::Twine(header.size()) + " for " +
                                llvm::Twine(specs.size()) + " tensors");
  char length[8];
  llvm::support::endian::write64le(length, header.size());
  layout.head.assign(length, sizeof(length));
  layout.head += header;
  return std::move(layout);
}

} // namespace zero::training
