// Everything about the chosen output.

function outputPanel() {
  if (!pairs.some((pair, index) => outputsOf(index).length)) return null;
  const panel = make('section', {id: 'panel', 'aria-live': 'polite', 'aria-label': 'Chosen output'});
  state.listeners.push((what) => {
    if (what === 'output') draw();
  });
  onTheme(draw);

  function draw() {
    const pair = pairs[state.pair];
    const output = outputsOf(state.pair)[state.output];
    if (!output) {
      panel.replaceChildren(make('p', {class: 'hint'}, 'Choose an output to see its numbers.'));
      return;
    }
    panel.replaceChildren(...titleOf(output), ...outputCharts(output, pair), ...worstOf(output, pair),
        ...sidesOf(output, pair), ...distancesOf(output), ...gatesOf(output), ...quantilesOf(output));
    panel.scrollTop = 0;
  }

  draw();
  return panel;
}

function titleOf(output) {
  const node = nodeOf(output);
  const made = node === undefined ? [] : [record.graph.nodes[node].op_type, record.graph.nodes[node].name];
  const verdict = verdictOf(output);
  const parts = [make('h2', {class: 'name'}, ...breakable(output.name))];
  const kind = [made.filter(Boolean).join(' '), typesText(output),
    shapeText(figuresOf(output).shape)];
  parts.push(make('p', {class: 'hint'}, kind.filter(Boolean).join(', ')));
  parts.push(make('p', {class: verdict === 'failed' ? 'failed' : ''},
      verdict === 'passed' ? passedText(output) : capital(output.failure || verdict) + '.'));
  if (output.vacuous && verdict !== 'failed') parts.push(make('p', {class: 'failed'}, `It shows nothing: ${output.vacuous}.`));
  const advice = figuresOf(output).suggestion;
  if (advice) parts.push(make('p', {}, capital(advice) + '.'));
  if ((output.other_name || '') !== output.name) {
    const how = pairedText(output.paired_by);
    parts.push(make('p', {class: 'hint'}, `Compared with ${output.other_name}, ${how}.`));
  }
  const compared = output.compared_iterations || 0;
  if (compared > 1) {
    parts.push(make('p', {class: 'hint'}, `${output.passed_iterations || 0} of ${compared} iterations passed; ` +
        `what follows is iteration ${figuresOf(output).iteration || 0}, the worst.`));
  }
  return parts;
}

function typesText(output) {
  const type = (figuresOf(output).first || {}).dtype;
  const same = (output.dtype || '') === (output.other_dtype || '');
  return same ? type : `${type} against ${output.other_dtype}`;
}

function pairedText(by) {
  return {folded: 'whose name differs in case or \':0\' only', substring: 'as one name is within the other',
    position: 'as only these two were left', shape: 'as no other has their type and shape',
    value: 'as the values say', map: 'as --map-outputs says',
    structure: 'as their nodes compute the same'}[by] || `paired by ${by || 'name'}`;
}

function passedText(output) {
  if (!output.tolerances_checked) return 'Passed.';
  const over = output.times_over_tolerance;
  if (!over) return 'Within tolerance.';
  return number(over) > 1 ? `Passed, with ${show(over)} times what is allowed at its worst.`
      : `Within tolerance: ${show(over)} of what is allowed.`;
}

function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function worstOf(output, pair) {
  const elements = figuresOf(output).worst_elements;
  if (!elements) return [];
  const whole = holdsIntegers(output);
  // One below the other, so that long numbers have room and their digits can be compared.
  const both = (first, second) => make('span', {class: 'both'}, make('span', {}, first), make('span', {}, second));
  const rows = elements.map((e) => [place(e.index),
    both(e.first_digits || showWhole(e.first, whole, 9), e.second_digits || showWhole(e.second, whole, 9)),
    both(e.absolute_error_digits || showWhole(e.absolute_error, whole, 4), show(e.relative_error || 0)),
    show(e.times_over_tolerance || 0, 3)]);
  const columns = [{title: 'element'}, {title: both(pair.first, pair.second), number: true},
    {title: both('absolute', 'relative'), number: true}, {title: 'times over', number: true}];
  return [make('h3', {}, 'Worst elements'), plainTable(columns, rows, 'Worst elements')];
}

function sidesOf(output, pair) {
  const sides = [figuresOf(output).first, figuresOf(output).second];
  if (!sides[0] || !sides[1]) return [];
  const at = (side, key) => side['first_' + key] ? ` (first at ${place(side['first_' + key])})` : '';
  const rows = [
    ['type', ...sides.map((s) => s.dtype || '')],
    // Blame keeps extremes only.
    ...[['min', 'smallest'], ['max', 'largest'], ['mean', 'mean'], ['std_dev', 'standard deviation']]
        .slice(0, record.blame ? 2 : 4)
        .map(([key, title]) => [title, ...sides.map((s) => showWhole(s[key], isWhole(s) && ['min', 'max'].includes(key), 6))]),
  ];
  for (const [key, title] of [['nan', 'NaN'], ['infinite', 'infinite']]) {
    if (!sides.some((s) => s[key])) continue;
    rows.push([title, ...sides.map((s) => count(s[key] || 0) + at(s, key))]);
  }
  const columns = [{title: ''}, {title: pair.first, number: true}, {title: pair.second, number: true}];
  return [make('h3', {}, 'Both sides'), plainTable(columns, rows, 'Statistics of both sides')];
}

// Neighbours with one title share a line.
function metricsOf(values) {
  const lines = new Map();
  for (const {name, title, unit = '', digits} of texts.metrics) {
    if (values[name] === undefined) continue;
    const text = show(values[name], digits) + unit;
    lines.set(title, lines.has(title) ? `${lines.get(title)}, ${text}` : text);
  }
  return [...lines];
}

function distancesOf(output) {
  const d = figuresOf(output).distances;
  const bound = output.auto_tolerance;
  const need = output.required_absolute_tolerance === undefined || verdictOf(output) !== 'failed' ? undefined
      : `absolute ${showAtLeast(output.required_absolute_tolerance, holdsIntegers(output))} or relative ` +
        showAtLeast(output.required_relative_tolerance);
  const entries = [
    ['mean absolute error', output.mean_absolute_error === undefined ? undefined
        : show(output.mean_absolute_error)],
    ['tolerance that would do', need],
    ['error bound', bound === undefined ? undefined
        : `${show(bound.bound)} of ${show(bound.scale)}${bound.why ? ', ' + bound.why : ''}`],
  ];
  if (d) {
    entries.push(...metricsOf(d),
        ['largest distance', d.max_ulp === undefined ? undefined : d.max_ulp + ' ULP']);
  }
  const known = entries.filter((entry) => entry[1] !== undefined);
  return known.length ? [make('h3', {}, 'Distances'), facts(known)] : [];
}

function quantilesOf(output) {
  const quantiles = output.quantiles || [];
  if (!quantiles.length) return [];
  return [...quantilesOver('iterations', quantiles), ...quantilesOver('elements', quantiles)];
}

function quantilesOver(what, quantiles) {
  const shares = ['p1', 'p5', 'median', 'p95', 'p99'];
  const rows = quantiles.filter((q) => q[what] !== undefined).map((q) => [
    q.statistic + (q.nan ? ` (${count(q.nan)} NaN left out)` : ''),
    count(q[what]), ...shares.map((share) => show(q[share] || 0))]);
  if (!rows.length) return [];
  const columns = [{title: ''}, {title: what, number: true},
    ...shares.map((title) => ({title, number: true}))];
  return [make('h3', {}, `Over the ${what}`), plainTable(columns, rows, `Quantiles over the ${what}`)];
}

function gatesOf(output) {
  const gates = figuresOf(output).gates || [];
  // One verdict of `simple` says nothing that the output's does not.
  if (!gates.length || (gates.length === 1 && gates[0].function === 'simple')) return [];
  const rows = gates.map((g) => [g.function || '', g.verdict || '',
    g.value === undefined ? '' : show(g.value), g.threshold === undefined ? '' : show(g.threshold), g.why || '']);
  const columns = [{title: 'metric'}, {title: 'verdict'}, {title: 'value', number: true},
    {title: 'threshold', number: true}, {title: 'why', words: true}];
  return [make('h3', {}, 'Metrics and their thresholds'), plainTable(columns, rows, 'Metrics and their thresholds')];
}
