//===- OutputFlags.cpp - what a run writes and shows ---------------------===//
//
// Outputs of a run, and the runs that stop before they train.
//
//===----------------------------------------------------------------------===//

#include "FlagText.h"

namespace zero::run {

namespace {

Text save("save", cl::value_desc("file"), cl::cat(outputFlags()),
          cl::desc("Write all weights there at the end (.safetensors)"));
Text exported("export", cl::value_desc("file"), cl::cat(outputFlags()),
              cl::desc("Write all weights there at the end (.safetensors), each in the type that "
                       "it has in the run"));
Text exportType("export-dtype", cl::value_desc("type"), cl::cat(outputFlags()),
                cl::desc("Type of exported weights: f32, bf16, f16 (default: as in the run)"));
Text log("log", cl::value_desc("file"), cl::cat(outputFlags()),
         cl::desc("Write one JSON object a step there"));
Text report(
    "report", cl::value_desc("file"), cl::cat(outputFlags()),
    cl::desc("Write memory and communication of the plan there, as JSON; - for standard output"));
Text plot("plot", cl::value_desc("file"), cl::cat(outputFlags()),
          cl::desc("With --dry-run: draw the arena over a step there, as SVG; - for standard "
                   "output"));
Switch dryRun("dry-run", cl::cat(outputFlags()), cl::desc("Plan and report, and run nothing"));
Switch reference("reference", cl::cat(debugFlags()),
                 cl::desc("Train with the f64 reference interpreter in place of the compiled "
                          "program: slow, and the judge of it"));
Switch profile("profile", cl::cat(debugFlags()), cl::desc("Print where the time of a step goes"));
Switch
    poison("poison", cl::cat(debugFlags()),
           cl::desc("Fill memory that nothing should read with NaN, and guard the arena's ends"));
Switch printTable("print-table", cl::cat(debugFlags()),
                  cl::desc("Print the step table, and run nothing"));
Text object("emit-object", cl::value_desc("file"), cl::cat(debugFlags()),
            cl::desc("Write kernels and step table there as an object file, and run nothing"));
Switch cleanPasses("clean-passes", cl::cat(debugFlags()), cl::Hidden,
                   cl::desc("Run canonicalize and cse after every pass"));

} // namespace

void takeModes(Flags &flags) {
  flags.log = log;
  flags.save = save;
  flags.exported = exported;
  flags.report = report;
  flags.plot = plot;
  flags.object = object;
  flags.dryRun = dryRun;
  flags.reference = reference;
  flags.printTable = printTable;
  flags.train.poison = poison;
  flags.train.profile = profile;
  flags.train.compile.clean = cleanPasses;
}

static bool readExportType(Flags &flags) {
  if (!exportType.getNumOccurrences())
    return true;
  if (exported.empty())
    return refuse("expects --export-dtype only with --export");
  std::string type;
  if (!readWord(exportType, type, {"f32", "bf16", "f16"}))
    return false;
  flags.exportType = type == "f32"    ? training::DType::F32
                     : type == "bf16" ? training::DType::BF16
                                      : training::DType::F16;
  return true;
}

bool checkOutputFlags(Flags &flags) {
  for (Text *flag : {&save, &exported})
    if (!flag->empty() && !llvm::StringRef(*flag).ends_with(".safetensors"))
      return refuse("expects " + spelled(*flag) + " with a name that ends in .safetensors, got " +
                    flag->getValue());
  if (!readExportType(flags))
    return false;
  const Text *outputs[] = {&log, &save, &exported, &report, &plot, &object};
  for (const Text **one = std::begin(outputs); one != std::end(outputs); ++one)
    for (const Text **other = one + 1; other != std::end(outputs); ++other)
      if (!(*one)->empty() && (*one)->getValue() == (*other)->getValue())
        return refuse("expects outputs of different names, got " + (*one)->getValue() + " for " +
                      spelled(**one) + " and " + spelled(**other));
  bool stops = !flags.trains();
  if (dryRun && (printTable || !object.empty()))
    return refuse("expects --dry-run without --print-table and --emit-object, which compile");
  if (!plot.empty() && !dryRun)
    return refuse("expects --plot only with --dry-run");
  for (Text *flag : {&log, &save, &exported})
    if (stops && !flag->empty())
      return refuse("expects " + spelled(*flag) + " only with a run that trains");
  if (reference && (stops || profile || poison || !report.empty() || flags.train.memoryBudget))
    return refuse("expects --reference without --dry-run, --report, --memory-budget, --profile, "
                  "--poison, --print-table and --emit-object: it compiles nothing");
  if (reference && !flags.train.evalData.empty())
    return refuse("expects --eval-data without --reference");
  if (reference && flags.train.compile.lossMean != "step")
    return refuse("expects --loss-mean step with --reference, got " + flags.train.compile.lossMean);
  if (stops && (profile || poison))
    return refuse("expects --profile and --poison only with a run that trains");
  return true;
}

} // namespace zero::run
