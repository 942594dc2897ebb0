//===- RunCheckpoints.cpp - where a run begins again, and what it leaves -----===//

#include "zero/Trainer/RunCheckpoints.h"

#include "RunIdentity.h"
#include "zero/Trainer/Agreement.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

namespace zero {

using namespace training;

namespace {

/// What `agree` made the same on all processes.
llvm::Error common(llvm::Error error, const CheckpointPeers &peers) {
  if (!error || peers.processes == 1)
    return error;
  return llvm::make_error<CommonError>(llvm::toString(std::move(error)));
}

CheckpointPeers peersOf(const std::shared_ptr<zrt::Communicator> &communicator) {
  if (!communicator)
    return {};
  return {communicator->rank(), communicator->ranks(),
          [communicator](const void *mine, int64_t bytes, void *all) {
            return communicator->exchange(mine, bytes, all)
                       ? llvm::Error::success()
                       : llvm::createStringError("error: " + communicator->error());
          }};
}

std::optional<SavedKind> savedKind(zrt::StateKind kind) {
  switch (kind) {
  case zrt::StateKind::Param:
    return SavedKind::Param;
  case zrt::StateKind::Master:
    return SavedKind::Master;
  case zrt::StateKind::Moment1:
    return SavedKind::Moment1;
  case zrt::StateKind::Moment2:
    return SavedKind::Moment2;
  case zrt::StateKind::Grad:
  case zrt::StateKind::GradAccum:
    break;
  }
  return std::nullopt;
}

/// Through links, so that two spellings of one folder are one.
bool isSameFolder(llvm::StringRef a, llvm::StringRef b) {
  bool same = false;
  return !llvm::sys::fs::equivalent(a, b, same) && same;
}

/// Which of its states a session is given from which of a checkpoint's.
struct Transfer {
  zrt::StateKind to;
  SavedKind from;
};

llvm::Expected<std::vector<Transfer>> transfersOf(const Checkpoint &source,
                                                  const zrt::Bucket &bucket,
                                                  llvm::StringRef parameter, bool withMoments) {
  auto present = [&](zrt::StateKind kind) { return bucket.state[int(kind)].present; };
  std::vector<Transfer> transfers = {
      {present(zrt::StateKind::Master) ? zrt::StateKind::Master : zrt::StateKind::Param,
       source.has(parameter, SavedKind::Master) ? SavedKind::Master : SavedKind::Param}};
  for (Transfer moment : {Transfer{zrt::StateKind::Moment1, SavedKind::Moment1},
                          Transfer{zrt::StateKind::Moment2, SavedKind::Moment2}}) {
    if (!withMoments || !present(moment.to))
      continue;
    if (!source.has(parameter, moment.from))
      return inputError(source.path(), "expects " + name(moment.from) + " of parameter " +
                                           quoted(parameter) +
                                           " for this run's optimizer, got a checkpoint without");
    transfers.push_back(moment);
  }
  return std::move(transfers);
}

} // namespace

DType fileType(zrt::ElementType type) {
  return type == zrt::ElementType::bf16  ? DType::BF16
         : type == zrt::ElementType::f16 ? DType::F16
                                         : DType::F32;
}

llvm::Expected<std::unique_ptr<RunCheckpoints>> RunCheckpoints::open(const TrainOptions &options) {
  const CheckpointOptions &asked = options.checkpoints;
  if (asked.folder.empty() && asked.resume.empty())
    return nullptr;
  std::unique_ptr<RunCheckpoints> run(new RunCheckpoints());
  run->options = options;
  run->peers = peersOf(options.communicator);
  if (llvm::Error error = run->findSource())
    return common(std::move(error), run->peers);
  if (llvm::Error error = run->peers.agree(run->checkSource()))
    return common(std::move(error), run->peers);
  return std::move(run);
}

llvm::Error RunCheckpoints::findSource() {
  const CheckpointOptions &asked = options.checkpoints;
  bool isAuto = asked.resume == "auto";
  if (!asked.folder.empty()) {
    llvm::Expected<std::unique_ptr<CheckpointFolder>> opened =
        CheckpointFolder::open(asked.folder, peers);
    if (!opened)
      return opened.takeError();
    folder = std::move(*opened);
  }
  if (isAuto) {
    llvm::Expected<std::unique_ptr<Checkpoint>> newest = folder->openNewest(heard);
    if (!newest)
      return newest.takeError();
    source = std::move(*newest);
    if (!source)
      heard.push_back(asked.folder + ": note: no checkpoint to resume from; the run begins anew");
  } else if (!asked.resume.empty()) {
    llvm::Expected<std::unique_ptr<Checkpoint>> opened = Checkpoint::open(asked.resume, peers);
    if (!opened)
      return opened.takeError();
    source = std::move(*opened);
  }
  return lookForNewest();
}

llvm::Error RunCheckpoints::lookForNewest() {
  if (!folder)
    return llvm::Error::success();
  llvm::Expected<std::vector<int64_t>> steps = folder->steps();
  int64_t mine = steps && !steps->empty() ? steps->back() : -1;
  if (llvm::Error error = peers.agree(steps.takeError()))
    return error;
  llvm::Expected<int64_t> newest = peers.fromFirst(mine);
  if (!newest)
    return newest.takeError();
  newestStep = *newest;
  return llvm::Error::success();
}

llvm::Error RunCheckpoints::rewind(int64_t step) {
  while (folder && newestStep > step) {
    if (llvm::Error error = folder->setAside(newestStep, "newer", heard))
      return common(std::move(error), peers);
    if (llvm::Error error = lookForNewest())
      return common(std::move(error), peers);
  }
  return llvm::Error::success();
}

llvm::Error RunCheckpoints::checkSource() {
  // Else the checkpoints of two histories would lie in one folder, and the newest be of either.
  bool isThere =
      source && folder && isSameFolder(source->path(), folder->pathOf(source->manifest().step));
  if (newestStep >= 0 && !isThere)
    return inputError(folder->path(),
                      "expects --resume auto (or one of the checkpoints there, the newest of which "
                      "is " +
                          folder->pathOf(newestStep) + "), or a folder without, got " +
                          (source ? "--resume " + source->path() : llvm::Twine("a new run")));
  if (!source)
    return llvm::Error::success();
  uint64_t seed = source->manifest().seed;
  if (options.seedIsGiven && options.seed != seed)
    return inputError(source->path(), "expects --seed to be absent, or the checkpoint's " +
                                          llvm::Twine(seed) + ", got " + llvm::Twine(options.seed));
  options.seed = seed;
  sourceFolder = source->path().str();
  return llvm::Error::success();
}

llvm::Expected<RunPosition> RunCheckpoints::resume(zrt::Session &session) {
  const CheckpointManifest &manifest = source->manifest();
  CheckpointManifest here = identify(session.program(), options);
  if (llvm::Error error = expectSameModel(source->path(), manifest, here))
    return std::move(error);
  // Where weights are only exported, neither a position in the data follows nor an update.
  bool goesOn = !options.data.empty() || folder;
  if (goesOn) {
    if (llvm::Error error = expectSameBatch(source->path(), manifest, session.program()))
      return std::move(error);
    if (llvm::Error error = expectSameOptimizer(source->path(), manifest, here))
      return std::move(error);
  }
  for (const zrt::Bucket &bucket : session.program().buckets)
    for (const zrt::Slot &slot : bucket.slots)
      if (llvm::Error error = restore(session, bucket, slot, goesOn))
        return std::move(error);
  if (llvm::Error error = lookAtData())
    return std::move(error);
  if (data && !(*data == manifest.data))
    heard.push_back(source->path().str() + ": warning: trained on " + manifest.data.file + " (" +
                    std::to_string(manifest.data.bytes) + " bytes); goes on at sample " +
                    std::to_string(manifest.samples()) + " of another file, " + data->file + " (" +
                    std::to_string(data->bytes) + " bytes)");
  heard.push_back(source->path().str() + ": note: goes on after step " +
                  std::to_string(manifest.step) + " (" + std::to_string(manifest.samples()) +
                  " samples)" + changesText(manifest, here));
  if (!data)
    data = manifest.data; // no step is taken: what is written again is of the same data
  RunPosition position{manifest.step, manifest.stepsTaken, std::nullopt};
  if (llvm::any_of(manifest.parameters,
                   [](const auto &parameter) { return parameter.type == "f16"; }))
    position.lossScale = manifest.lossScale;
  source.reset();
  return position;
}

/// In blocks, so that a large parameter is not held a second time.
llvm::Error RunCheckpoints::restore(zrt::Session &session, const zrt::Bucket &bucket,
                                    const zrt::Slot &slot, bool withMoments) {
  constexpr int64_t kBlockElements = int64_t(1) << 20;
  if (slot.elements == 0)
    return llvm::Error::success();
  llvm::Expected<std::vector<Transfer>> transfers =
      transfersOf(*source, bucket, slot.parameter, withMoments);
  if (!transfers)
    return transfers.takeError();
  std::vector<float> block;
  for (const Transfer &transfer : *transfers)
    for (int64_t begin = 0; begin < slot.elements; begin += kBlockElements) {
      block.resize(static_cast<size_t>(std::min(kBlockElements, slot.elements - begin)));
      source->read(slot.parameter, transfer.from, begin, block);
      std::string error;
      if (!session.setStateRange(slot.parameter, transfer.to, begin,
                                 static_cast<int64_t>(block.size()), block.data(), error))
        return llvm::createStringError("error: " + error);
    }
  return llvm::Error::success();
}

llvm::Error RunCheckpoints::lookAtData() {
  if (data || options.data.empty())
    return llvm::Error::success();
  llvm::Expected<CheckpointManifest::Data> looked = identifyData(options.data);
  if (!looked)
    return looked.takeError();
  data = *looked;
  return llvm::Error::success();
}

llvm::Error RunCheckpoints::save(const zrt::Session &session, const RunPosition &position) {
  if (!folder || position.step == newestStep)
    return llvm::Error::success();
  if (llvm::Error error = peers.agree(lookAtData()))
    return common(std::move(error), peers);
  const zrt::Program &program = session.program();
  CheckpointManifest manifest = identify(program, options);
  manifest.step = position.step;
  manifest.stepsTaken = position.stepsTaken;
  manifest.lossScale = position.lossScale.value_or(LossScale::State());
  manifest.seed = options.seed;
  if (data)
    manifest.data = *data;
  zrt::RankRange local = session.localRanks();
  std::vector<RankPieces> pieces(static_cast<size_t>(local.count));
  for (int64_t i = 0; i < local.count; ++i)
    pieces[static_cast<size_t>(i)].rank = local.first + i;
  session.forEachOwnedPiece([&](const zrt::StatePiece &piece) {
    if (std::optional<SavedKind> kind = savedKind(piece.kind))
      pieces[static_cast<size_t>(piece.rank - local.first)].pieces.push_back(
          {{std::string(piece.parameter), *kind, piece.beginElement, piece.count},
           fileType(piece.type),
           piece.data});
  });
  if (llvm::Error error =
          folder->write(std::move(manifest), pieces, program.ranks, options.checkpoints.keep))
    return common(std::move(error), peers);
  newestStep = position.step;
  written = folder->pathOf(position.step);
  return llvm::Error::success();
}

} // namespace zero
