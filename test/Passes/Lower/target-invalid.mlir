// RUN: zero-opt %s --zero-lower=target=cuda --verify-diagnostics

// expected-error @+1 {{expects target=cpu, got target=cuda}}
module {
}
