'use strict';
// Objects are packed as {N: [values]}, whose keys are the N-th list
// (src/record/schema/page_json.h).
function unpack(value, keys) {
  if (Array.isArray(value)) return value.map((item) => unpack(item, keys));
  if (value === null || typeof value !== 'object') return value;
  const [[list, values]] = Object.entries(value);
  return Object.fromEntries(keys[list].map((key, i) => [key, unpack(values[i], keys)]));
}

// The record as --save-record writes it, by docs/formats/run-record.md, but that what is null, false or
// empty is absent, and integers that a number would round are texts; numbers that JSON lacks are the
// words nan, inf and -inf. `texts` has what a record has not: sentences, and the verdict on each output.
const {record: packed, texts} = JSON.parse(document.getElementById('record').textContent);
const record = unpack(packed.value, packed.keys);
const hasCharts = typeof d3 !== 'undefined';
const pairs = record.pairs || [];
const origin = record.origin || {};
pairs.forEach((pair, i) => (pair.outputs || []).forEach((output, j) => {
  output.name = output.name || '';
  Object.assign(output, texts.pairs[i].outputs[j]);
}));

for (const pair of pairs) {
  pair.first = pair.first || '';
  pair.second = pair.second || '';
  pair.title = `${pair.first} vs. ${pair.second}` + (pair.by_layer ? ', layer by layer' : '');
}

// What the reader has chosen. `listeners` are called with the name of what changed.
const state = {pair: 0, output: -1, listeners: []};
// Of several pairs the first that differs is looked at first.
state.pair = Math.max(0, pairs.findIndex((pair) =>
  (pair.outputs || []).some((output) => output.verdict === 'failed')));
// What is to blame is seen where the layers are.
if (record.blame && record.blame.culprits) state.pair = pairs.findIndex((pair) => pair.by_layer);

function change(what, values) {
  Object.assign(state, values);
  for (const listener of state.listeners) listener(what);
}

function showOutput(pair, output) {
  if (state.pair !== pair) change('pair', {pair, output: -1});
  change('output', {output});
}

function number(value) {
  if (value === 'inf') return Infinity;
  if (value === '-inf') return -Infinity;
  if (value === 'nan') return NaN;
  return value === undefined ? 0 : value;
}

function outputsOf(pair) {
  return (pairs[pair] && pairs[pair].outputs) || [];
}

function verdictOf(output) {
  return output.verdict;
}

// Its worst iteration.
function figuresOf(output) {
  return output.worst_iteration || {};
}

function isWhole(side) {
  return /^u?int/.test((side || {}).dtype);
}

function holdsIntegers(output) {
  const {first, second} = figuresOf(output);
  return output.whole || (isWhole(first) && isWhole(second));
}

// Each output's node, where a graph was saved: tensor names are the join.
const producers = new Map();
if (record.graph) {
  (record.graph.nodes || []).forEach((node, index) => {
    for (const name of node.outputs || []) {
      if (!producers.has(name)) producers.set(name, index);
    }
  });
}

function nodeOf(output) {
  const node = producers.get(output.name);
  return node === undefined ? producers.get(output.other_name) : node;
}

// Outputs in the order of the graph; those that no node makes keep their places at the end.
function inGraphOrder(pair) {
  const last = producers.size + 1;
  const place = (output) => {
    const node = nodeOf(output);
    return node === undefined ? last : node;
  };
  return outputsOf(pair)
      .map((output, index) => ({output, index, place: place(output)}))
      .sort((a, b) => a.place - b.place || a.index - b.index);
}

// Metrics that a chart or a column can show. Undefined: not measured.
const chartMetrics = {
  over: {
    label: 'times over tolerance',
    of: (output) => output.tolerances_checked ? number(output.times_over_tolerance) : undefined,
    threshold: 1,
  },
  abs: {
    label: 'largest absolute error',
    of: (output) => output.max_absolute_error === undefined ? undefined : number(output.max_absolute_error),
  },
  rel: {
    label: 'largest relative error',
    of: (output) => output.max_relative_error === undefined ? undefined : number(output.max_relative_error),
  },
};
