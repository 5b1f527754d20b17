// The fields of a record about runners, for record_schema.h. Only for this folder.
#pragma once

#include "record/schema/step_schema.h"
#include "vernier/runner_record.h"

namespace vernier {

template <typename Fields>
void ListFields(Fields& field, Some<LatencyRecord> auto& latency) {
  field("first", latency.first);
  field("median", latency.median);
  field("p95", latency.p95);
}

template <typename Fields>
void ListFields(Fields& field, Some<ReceivedRecord> auto& received) {
  field("iterations", received.iterations);
  field("all", received.all);
  field.Pairs("first_iteration", received.first, "input", "xxh3_64");
}

template <typename Fields>
void ListFields(Fields& field, Some<LayerPrecisionRecord> auto& layer) {
  field("layer", layer.layer);
  field("asked", layer.asked);
  field("got", layer.got);
}

template <typename Fields>
void ListFields(Fields& field, Some<EngineBuildRecord> auto& engine) {
  field.Pairs("config", engine.config, "setting", "value");
  field("layers", engine.layers);
}

/// What a runner is, without what it did.
template <typename Fields>
void ListIdentity(Fields& field, Some<RunnerRecord> auto& runner) {
  field("name", runner.name);
  field("backend", runner.backend);
  field("framework_version", runner.framework_version);
  field("framework_path", runner.framework_path);
  field("model", runner.model);
  field("device", runner.device);
  field("precision", runner.precision);
}

template <typename Fields>
void ListFields(Fields& field, Some<RunnerRecord> auto& runner) {
  ListIdentity(field, runner);
  field("load_seconds", runner.load_seconds);
  field("iterations", runner.iterations);
  field.Text("failure", runner.failure);
  field.Given("latency_seconds", runner.latency);
  field.Given("received", runner.received);
  field.Pairs("skipped_outputs", runner.skipped_outputs, "name", "why");
  field.Pairs("mapped_inputs", runner.mapped_inputs, "input", "from");
  field.Later("left_out_inputs", runner.left_out_inputs);
  field.Given("engine", runner.engine);
}

template <typename Fields>
void ListFields(Fields& field, Some<ShardRunnerRecord> auto& runner) {
  field("name", runner.name);
  field("load_seconds", runner.load_seconds);
  field.Given("latency_seconds", runner.latency);
}

template <typename Fields>
void ListFields(Fields& field, Some<ShardRecord> auto& shard) {
  field("number", shard.number);
  field("host", shard.host);
  field("process", shard.process);
  field("started", shard.started);
  field("seconds", shard.seconds);
  field("runners", shard.runners);
}

}  // namespace vernier
