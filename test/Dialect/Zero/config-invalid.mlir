// RUN: zero-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expects zero.config to be a dictionary, got 3 : i64}}
module attributes {zero.config = 3} {}

// -----
// expected-error @below {{expects zero.config to hold an i64 'ranks', got none}}
module attributes {zero.config = {}} {}

// -----
// expected-error @below {{expects zero.config to hold an i64 'ranks', got 2.000000e+00 : f64}}
module attributes {zero.config = {
    ranks = 2.0, stage = 3, micro_steps = 2, bucket_bytes = 64, threads_per_rank = 2, reduce_every = "step",
    loss_mean = "rank", optimizer = "sgd", beta1 = 0.5, beta2 = 0.25, eps = 0.125, weight_decay = 0.5,
    momentum = 0.75, clip = 2.0}} {}

// -----
// expected-error @below {{expects zero.config to hold "step" or "micro-step" 'reduce_every', got "never"}}
module attributes {zero.config = {
    ranks = 2, stage = 3, micro_steps = 2, bucket_bytes = 64, threads_per_rank = 2, reduce_every = "never",
    loss_mean = "rank", optimizer = "sgd", beta1 = 0.5, beta2 = 0.25, eps = 0.125, weight_decay = 0.5,
    momentum = 0.75, clip = 2.0}} {}

// -----
// expected-error @below {{expects no entry 'rank' in zero.config}}
module attributes {zero.config = {
    ranks = 2, stage = 3, micro_steps = 2, bucket_bytes = 64, threads_per_rank = 2, reduce_every = "step",
    loss_mean = "rank", optimizer = "sgd", beta1 = 0.5, beta2 = 0.25, eps = 0.125, weight_decay = 0.5,
    momentum = 0.75, clip = 2.0, rank = 3}} {}

// -----
// expected-error @below {{expects stage between 0 and 3, got 4}}
module attributes {zero.config = {
    ranks = 2, stage = 4, micro_steps = 2, bucket_bytes = 64, threads_per_rank = 2, reduce_every = "step",
    loss_mean = "rank", optimizer = "sgd", beta1 = 0.5, beta2 = 0.25, eps = 0.125, weight_decay = 0.5,
    momentum = 0.75, clip = 2.0}} {}

// -----
// expected-error @below {{expects zero.config to stand on a module}}
zero.cell @x : tensor<f32> {zero.config = {}}

// -----
// expected-error @below {{expects zero.config to hold a list of {lr = f64, pattern = string} with or without weight_decay = f64 'groups', got []}}
module attributes {zero.config = {
    ranks = 2, stage = 3, micro_steps = 2, bucket_bytes = 64, threads_per_rank = 2, reduce_every = "step",
    loss_mean = "rank", optimizer = "sgd", beta1 = 0.5, beta2 = 0.25, eps = 0.125, weight_decay = 0.5,
    momentum = 0.75, clip = 2.0, groups = []}} {}

// -----
// expected-error @below {{expects zero.config to hold a list of {lr = f64, pattern = string} with or without weight_decay = f64 'groups', got }}
module attributes {zero.config = {
    ranks = 2, stage = 3, micro_steps = 2, bucket_bytes = 64, threads_per_rank = 2, reduce_every = "step",
    loss_mean = "rank", optimizer = "sgd", beta1 = 0.5, beta2 = 0.25, eps = 0.125, weight_decay = 0.5,
    momentum = 0.75, clip = 2.0, groups = [{pattern = "w"}]}} {}

// -----
// expected-error @below {{expects zero.config to hold a list of {lr = f64, pattern = string} with or without weight_decay = f64 'groups', got }}
module attributes {zero.config = {
    ranks = 2, stage = 3, micro_steps = 2, bucket_bytes = 64, threads_per_rank = 2, reduce_every = "step",
    loss_mean = "rank", optimizer = "sgd", beta1 = 0.5, beta2 = 0.25, eps = 0.125, weight_decay = 0.5,
    momentum = 0.75, clip = 2.0, groups = [{pattern = "w", lr = 1.0, decay = 0.5}]}} {}

// -----
// expected-error @below {{expects lr and weight-decay of group 'w' to be finite and at least 0}}
module attributes {zero.config = {
    ranks = 2, stage = 3, micro_steps = 2, bucket_bytes = 64, threads_per_rank = 2, reduce_every = "step",
    loss_mean = "rank", optimizer = "sgd", beta1 = 0.5, beta2 = 0.25, eps = 0.125, weight_decay = 0.5,
    momentum = 0.75, clip = 2.0, groups = [{pattern = "w", lr = -1.0}]}} {}

// -----
// expected-error @below {{expects a group's pattern to match names, got nothing}}
module attributes {zero.config = {
    ranks = 2, stage = 3, micro_steps = 2, bucket_bytes = 64, threads_per_rank = 2, reduce_every = "step",
    loss_mean = "rank", optimizer = "sgd", beta1 = 0.5, beta2 = 0.25, eps = 0.125, weight_decay = 0.5,
    momentum = 0.75, clip = 2.0, groups = [{pattern = "", lr = 1.0}]}} {}
