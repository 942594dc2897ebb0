//===- Passes.td - Zero's passes -----------------------------------------------===//
#ifndef ZERO_PASSES_PASSES_TD
#define ZERO_PASSES_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConfigurePass : Pass<"zero-configure", "::mlir::ModuleOp"> {
  let summary = "Writes zero.config on the module";
  let description = [{
    Checks the options and writes them as `zero.config`, which every later pass reads. Expects any
    level that has no `zero.config` of other values; leaves the level as it is.
  }];
  let options = [
    Option<"ranks", "ranks", "int64_t", "1", "Data-parallel ranks">,
    Option<"stage", "stage", "int64_t", "0", "ZeRO stage, 0 to 3">,
    Option<"microSteps", "micro-steps", "int64_t", "1", "Micro-steps whose gradients one step accumulates">,
    Option<"bucketBytes", "bucket-bytes", "int64_t", "26214400", "Bytes of a bucket and of a chunk">,
    Option<"threadsPerRank", "threads-per-rank", "int64_t", "1", "Threads of a rank">,
    Option<"reduceEvery", "reduce-every", "std::string", "\"micro-step\"", "Stage 2: reduce gradients every micro-step, or once a step">,
    Option<"lossMean", "loss-mean", "std::string", "\"step\"", "What the mean loss divides by: step, micro-step or rank">,
    Option<"optimizer", "optimizer", "std::string", "\"adamw\"", "adamw, adam, sgd or lion">,
    Option<"beta1", "beta1", "double", "0.9", "Decay of the first moment">,
    Option<"beta2", "beta2", "double", "0.999", "Decay of the second moment, or of lion's only one">,
    Option<"eps", "eps", "double", "1e-8", "Added to the root of the second moment">,
    Option<"weightDecay", "weight-decay", "double", "0.0", "Weight decay">,
    Option<"momentum", "momentum", "double", "0.0", "Momentum of sgd">,
    Option<"clip", "clip", "double", "0.0", "Bound on the global gradient norm; 0 for none">,
    Option<"groups", "groups", "std::string", "\"\"", "Parameters with a rate or decay of their own, by name: *.bias:lr=0.5,weight-decay=0;…, where lr is a factor">
  ];
  let dependentDialects = ["::zero::ir::ZeroDialect"];
}

def CloseBatchPass : Pass<"nn-close-batch", "::mlir::ModuleOp"> {
  let summary = "Gives the open batch dimension a value";
  let description = [{
    Replaces `?` in dimension 0 of the forward function's arguments by `micro-batch` and infers all
    shapes again. Level G to level G. A graph without `?` stays as it is, and must have that batch.

    ```mlir
    func.func @loss(%x: tensor<?x6xf32>) …   →   func.func @loss(%x: tensor<2x6xf32>) …
    ```
  }];
  let options = [Option<"microBatch", "micro-batch", "int64_t", "0", "Rows per rank and micro-step">];
  let dependentDialects = ["::zero::nn::NNDialect"];
}

def MixedPrecisionPass : Pass<"nn-mixed-precision", "::mlir::ModuleOp"> {
  let summary = "Computes in bf16 or f16";
  let description = [{
    Level G to level G. f32 parameters take `type`, save those that `keep-f32` names; the types of all
    other values follow by inference. Batch arguments stay as they are, and are converted where they
    meet 16-bit values. Where types meet in an op, f32 operands are converted to `type`, unless the
    op takes them as they are: norms compute in f32, so an f32 weight meets a 16-bit input unrounded,
    and its gradient is f32. Losses and other scalars, and constants, stay f32. A graph with
    parameters of `type` is left as it is written.

    ```mlir
    nn.param @w : tensor<4x6xf32> init zeros   →   nn.param @w : tensor<4x6xbf16> init zeros
    ```
  }];
  let options = [
    Option<"type", "type", "std::string", "\"f32\"", "Type of weights and activations: f32, bf16 or f16">,
    Option<"keepF32", "keep-f32", "std::string", "\"\"", "Parameters that stay f32: names with * for any characters, separated by commas">
  ];
  let dependentDialects = ["::zero::nn::NNDialect"];
}

def AutodiffPass : Pass<"nn-autodiff", "::mlir::ModuleOp"> {
  let summary = "Differentiates the forward function";
  let description = [{
    Reverse mode through DifferentiableOpInterface. Level G (static shapes) to level J: calls are
    inlined, the forward function becomes `@joint`, which takes the seed as a last argument and ends
    in `nn.return %loss grads(…)`; `@count` counts the labels of all micro-steps. A parameter on which
    the loss does not depend is warned about.

    Each gradient is formed in f32 and rounded once, to its type: of an f32 parameter f32, of a 16-bit
    one `grad-type`, under `auto` f32 where zero.config has several micro-steps, else the parameter's.
  }];
  let options = [
    Option<"gradType", "grad-type", "std::string", "\"auto\"", "Type of gradients of 16-bit parameters: auto, f32, bf16 or f16">,
    Option<"evaluate", "evaluate", "bool", "false", "Make @eval too: forward alone, for held-out data">
  ];
  let dependentDialects = ["::zero::nn::NNDialect", "::mlir::func::FuncDialect"];
}

def FormLaunchesPass : Pass<"zero-form-launches", "::mlir::ModuleOp"> {
  let summary = "Groups ops into kernels and launches";
  let description = [{
    Level J to level J: moves ops that belong together into `zero.kernel`, shared by structure, and
    leaves `zero.launch`; only views stay between launches.
  }];
  let dependentDialects = ["::zero::nn::NNDialect", "::zero::ir::ZeroDialect"];
}

def PlaceCheckpointsPass : Pass<"zero-place-checkpoints", "::mlir::ModuleOp"> {
  let summary = "Chooses what is kept for backward, and what runs again";
  let description = [{
    Level J (with launches) to the same level: clones launches of forward into backward, so that their
    results need not be kept in between. A clone is fed through `nn.barrier`, which keeps it apart from
    the launch it repeats.

    - `none` keeps everything.
    - `every-block` keeps what enters a block, that is a layer, and runs everything else that backward
      reads again. Blocks are found by the period of kernels in forward that are equal up to the
      sites of their dropouts.
    - `min-cut` repeats only elementwise and row kernels, where that keeps fewer bytes.
    - `budget` finds the cheapest computations that keep activations within `memory-budget` bytes.

    ```mlir
    %h = zero.launch @gelu(%u) …    →    %u1 = nn.barrier %u after %dy
    %dw = zero.launch @dot(%h, %dy)      %h1 = zero.launch @gelu(%u1) …
                                         %dw = zero.launch @dot(%h1, %dy)
    ```
  }];
  let options = [
    Option<"recompute", "recompute", "std::string", "\"none\"", "What runs again: none, every-block, min-cut or budget">,
    Option<"memoryBudget", "memory-budget", "int64_t", "0", "With budget: bytes of activations at their peak">
  ];
  let dependentDialects = ["::zero::nn::NNDialect", "::zero::ir::ZeroDialect"];
}

def ReplicatePass : Pass<"zero-replicate", "::mlir::ModuleOp"> {
  let summary = "Makes the sharded program of stage 0: everything replicated";
  let description = [{
    Level J (with launches) to level Z: one bucket a parameter, state full on every rank, segments
    `count`, `micro_step` and `update`; gradients are kept in state over the micro-steps and
    all-reduced once a step.
  }];
  let dependentDialects = ["::zero::ir::ZeroDialect"];
}
def ShardOptimizerPass : Pass<"zero-shard-optimizer", "::mlir::ModuleOp"> {
  let summary = "Stage 1: shards the optimizer state";
  let description = [{
    Level J or stage 0 of level Z to level Z: moments (and masters) live in shards; `update`
    reduce-scatters gradients in place, updates the owned elements and gathers the weights in place.
  }];
  let dependentDialects = ["::zero::ir::ZeroDialect"];
}
def ShardGradientsPass : Pass<"zero-shard-gradients", "::mlir::ModuleOp"> {
  let summary = "Stage 2: shards the gradients";
  let description = [{
    Level J or stage 1 of level Z to level Z: gradients live in shards; each bucket is reduce-scattered
    in `micro_step`, as soon as its last contribution is formed.
  }];
  let dependentDialects = ["::zero::ir::ZeroDialect"];
}
def ShardParametersPass : Pass<"zero-shard-parameters", "::mlir::ModuleOp"> {
  let summary = "Stage 3: shards the parameters";
  let description = [{
    Level J or stage 2 of level Z to level Z: weights live in shards, are gathered once per region of
    use, and only where something reads them.
  }];
  let dependentDialects = ["::zero::ir::ZeroDialect"];
}
def BucketCollectivesPass : Pass<"zero-bucket-collectives", "::mlir::ModuleOp"> {
  let summary = "Merges one-parameter buckets into buckets of constant size";
  let description = [{
    Level Z to level Z: consecutive parameters in order of first use, up to `bucket-bytes` of
    zero.config, or one larger parameter alone; one element type and one class a bucket.

    At stage 3 a launch that runs again in backward reads the gather that backward itself needs of the
    bucket, which is held until then. `hold-bytes` bounds activations and what is held, together;
    what would be read again last is gathered again instead.
  }];
  let options = [
    Option<"holdBytes", "hold-bytes", "int64_t", "-1", "Stage 3: bytes of activations, and of gathered buckets that wait for a later reader while others are read; -1 for any number">
  ];
  let dependentDialects = ["::zero::ir::ZeroDialect"];
}
def SchedulePass : Pass<"zero-schedule", "::mlir::ModuleOp"> {
  let summary = "Puts launches and collectives on streams";
  let description = [{
    Level Z to level S: collectives become starts and waits, gathers are issued one region ahead, at
    most two reductions are in flight, buffers are freed after their last use, and a segment ends with
    all streams joined.
  }];
  let dependentDialects = ["::zero::ir::ZeroDialect"];
}
def PlanArenaPass : Pass<"zero-plan-arena", "::mlir::ModuleOp"> {
  let summary = "Gives every byte a place in one arena";
  let description = [{
    Level S to level A: state, control, inputs, gathered buckets, gradients, activations and workspaces
    get offsets; the packing is verified before it is written.
  }];
  let dependentDialects = ["::zero::ir::ZeroDialect"];
}
def VerifyPass : Pass<"zero-verify", "::mlir::ModuleOp"> {
  let summary = "Proves the laws of memory, schedule and communication on the IR";
  let description = [{
    Any level. Checks what the level promises, independently of the passes that made it: S4 at levels Z
    and up, S1 to S3 at level S and up, and that no two live ranges of bytes meet at level A.
  }];
}
def LowerPass : Pass<"zero-lower", "::mlir::ModuleOp"> {
  let summary = "Lowers generated kernels to the llvm dialect";
  let description = [{
    Level A to level X: each generated `zero.kernel` gets an `llvm.func` of the same name with
    the runtime's calling convention; segments stay, and are the step table's text.
  }];
  let options = [Option<"target", "target", "std::string", "\"cpu\"", "Only cpu in this version">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect",
      "::mlir::math::MathDialect", "::mlir::vector::VectorDialect", "::mlir::memref::MemRefDialect",
      "::mlir::func::FuncDialect", "::mlir::cf::ControlFlowDialect"];
}

def PipelinePass : Pass<"zero-pipeline", "::mlir::ModuleOp"> {
  let summary = "Runs all passes from the module's level to another";
  let description = [{
    Reads the level of the module off its IR and runs the passes from there on, so that text of any
    level goes back in. From level Z on the module's own `zero.config` holds, and the options that
    repeat it are not read.

    ```
    zero-opt model.mlir --zero-pipeline="stage=3 ranks=4 micro-batch=2 until=scheduled"
    ```
  }];
  let options = [
    Option<"until", "until", "std::string", "\"arena\"", "Level to stop at: graph, joint, launches, sharded, scheduled, arena or llvm">,
    Option<"microBatch", "micro-batch", "int64_t", "0", "Rows per rank and micro-step, where the graph leaves them open">,
    Option<"dtype", "dtype", "std::string", "\"f32\"", "Type of weights and activations: f32, bf16 or f16; read at level graph">,
    Option<"keepF32", "keep-f32", "std::string", "\"\"", "Parameters that stay f32: names with * for any characters, separated by commas">,
    Option<"gradDtype", "grad-dtype", "std::string", "\"auto\"", "Type of gradients of 16-bit parameters: auto (f32 over several micro-steps), f32, bf16 or f16">,
    Option<"evaluate", "evaluate", "bool", "false", "Make an evaluation's segment too: forward alone, for held-out data">,
    Option<"recompute", "recompute", "std::string", "\"none\"", "What backward computes again: none, every-block, min-cut or budget; read before level sharded">,
    Option<"activationBudget", "activation-budget", "int64_t", "0", "With recompute=budget: bytes of activations at their peak">,
    Option<"holdBytes", "hold-bytes", "int64_t", "-1", "Stage 3: bytes of activations, and of gathered buckets that wait for a later reader while others are read; -1 for any number">,
    Option<"verify", "verify", "bool", "true", "Run zero-verify after each pass">,
    Option<"clean", "clean", "bool", "false", "Run canonicalize and cse after each pass">,
    Option<"ranks", "ranks", "int64_t", "1", "Data-parallel ranks">,
    Option<"stage", "stage", "int64_t", "0", "ZeRO stage, 0 to 3">,
    Option<"microSteps", "micro-steps", "int64_t", "1", "Micro-steps whose gradients one step accumulates">,
    Option<"bucketBytes", "bucket-bytes", "int64_t", "26214400", "Bytes of a bucket and of a chunk">,
    Option<"threadsPerRank", "threads-per-rank", "int64_t", "1", "Threads of a rank">,
    Option<"reduceEvery", "reduce-every", "std::string", "\"micro-step\"", "Stage 2: reduce gradients every micro-step, or once a step">,
    Option<"lossMean", "loss-mean", "std::string", "\"step\"", "What the mean loss divides by: step, micro-step or rank">,
    Option<"optimizer", "optimizer", "std::string", "\"adamw\"", "adamw, adam, sgd or lion">,
    Option<"beta1", "beta1", "double", "0.9", "Decay of the first moment">,
    Option<"beta2", "beta2", "double", "0.999", "Decay of the second moment, or of lion's only one">,
    Option<"eps", "eps", "double", "1e-8", "Added to the root of the second moment">,
    Option<"weightDecay", "weight-decay", "double", "0.0", "Weight decay">,
    Option<"momentum", "momentum", "double", "0.0", "Momentum of sgd">,
    Option<"clip", "clip", "double", "0.0", "Bound on the global gradient norm; 0 for none">,
    Option<"groups", "groups", "std::string", "\"\"", "Parameters with a rate or decay of their own, by name: *.bias:lr=0.5,weight-decay=0;…, where lr is a factor">
  ];
  let dependentDialects = ["::zero::ir::ZeroDialect", "::zero::nn::NNDialect", "::mlir::LLVM::LLVMDialect",
      "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
      "::mlir::vector::VectorDialect", "::mlir::memref::MemRefDialect", "::mlir::func::FuncDialect",
      "::mlir::cf::ControlFlowDialect"];
}

#endif // ZERO_PASSES_PASSES_TD
