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
        ...sidesOf(output, pair), ...distancesOf(output), ...gatesOf(output));
    panel.scrollTop = 0;
  }

  draw();
  return panel;
}

function titleOf(output) {
  const node = nodeOf(output);
  const made = node === undefined ? [] : [record.graph.nodes[node][1], record.graph.nodes[node][0]];
  const verdict = verdictOf(output);
  const parts = [make('h2', {class: 'name'}, output.name)];
  const kind = [made.filter(Boolean).join(' '), output.otherType
    ? `${(output.first || {}).type} against ${output.otherType}` : (output.first || {}).type,
  shapeText(output.shape)];
  parts.push(make('p', {class: 'hint'}, kind.filter(Boolean).join(', ')));
  parts.push(make('p', {class: verdict === 'failed' ? 'failed' : ''},
      verdict === 'passed' ? passedText(output) : capital(output.failure || verdict) + '.'));
  if (output.vacuous) parts.push(make('p', {class: 'failed'}, `It shows nothing: ${output.vacuous}.`));
  if (output.advice) parts.push(make('p', {}, capital(output.advice) + '.'));
  if (output.other) {
    parts.push(make('p', {class: 'hint'}, `Compared with ${output.other}, ${pairedText(output.by)}.`));
  }
  const compared = output.compared || 0;
  if (compared > 1) {
    parts.push(make('p', {class: 'hint'}, `${output.passed || 0} of ${compared} iterations passed; ` +
        `what follows is iteration ${output.iteration || 0}, the worst.`));
  }
  return parts;
}

function pairedText(by) {
  return {folded: 'whose name differs in case or \':0\' only', substring: 'as one name is within the other',
    position: 'as only these two were left'}[by] || `paired by ${by || 'name'}`;
}

function passedText(output) {
  if (!output.checked) return 'Passed.';
  if (output.over === undefined) return 'Within tolerance.';
  return number(output.over) > 1 ? `Passed, with ${show(output.over)} times what is allowed at its worst.`
      : `Within tolerance: ${show(output.over)} of what is allowed.`;
}

function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function worstOf(output, pair) {
  if (!output.worst) return [];
  const rows = output.worst.map((e) => [place(e.at), show(e.a || 0, 9), show(e.b || 0, 9),
    show(e.abs || 0), show(e.rel || 0), show(e.over || 0, 3)]);
  const columns = [{title: 'element'}, {title: pair.a, number: true},
    {title: pair.b, number: true}, {title: 'absolute', number: true},
    {title: 'relative', number: true}, {title: 'times over', number: true}];
  return [make('h3', {}, 'Worst elements'), plainTable(columns, rows, 'Worst elements')];
}

function sidesOf(output, pair) {
  const sides = [output.first, output.second];
  if (!sides[0] || !sides[1]) return [];
  const at = (side, key) => side[key + 'At'] ? ` (first at ${place(side[key + 'At'])})` : '';
  const rows = [
    ['type', ...sides.map((s) => s.type || '')],
    // Blame keeps extremes only.
    ...[['min', 'smallest'], ['max', 'largest'], ['mean', 'mean'], ['std', 'standard deviation']]
        .slice(0, record.blame ? 2 : 4)
        .map(([key, title]) => [title, ...sides.map((s) => show(s[key] || 0, 6))]),
  ];
  for (const [key, title] of [['nan', 'NaN'], ['inf', 'infinite']]) {
    if (!sides.some((s) => s[key])) continue;
    rows.push([title, ...sides.map((s) => count(s[key] || 0) + at(s, key))]);
  }
  const columns = [{title: ''}, {title: pair.a, number: true}, {title: pair.b, number: true}];
  return [make('h3', {}, 'Both sides'), plainTable(columns, rows, 'Statistics of both sides')];
}

// Neighbours with one title share a line.
function metricsOf(values) {
  const lines = new Map();
  for (const {name, title, unit = '', digits} of record.metrics) {
    if (values[name] === undefined) continue;
    const text = show(values[name], digits) + unit;
    lines.set(title, lines.has(title) ? `${lines.get(title)}, ${text}` : text);
  }
  return [...lines];
}

function distancesOf(output) {
  const d = output.dist;
  const need = output.needAbs === undefined || verdictOf(output) !== 'failed' ? undefined
      : `absolute ${show(output.needAbs)} or relative ${show(output.needRel)}`;
  const entries = [
    ['mean absolute error', output.mean === undefined ? undefined : show(output.mean)],
    ['tolerance that would do', need],
    ['bar of this output', output.bar === undefined ? undefined
        : `${show(output.bar)} of ${show(output.barScale)}${output.barWhy ? ', ' + output.barWhy : ''}`],
  ];
  if (d) {
    entries.push(...metricsOf(d),
        ['largest distance', d.ulp === undefined ? undefined : d.ulp + ' ULP']);
  }
  const known = entries.filter((entry) => entry[1] !== undefined);
  return known.length ? [make('h3', {}, 'Distances'), facts(known)] : [];
}

function gatesOf(output) {
  if (!output.gates) return [];
  const rows = output.gates.map((g) => [g.what || '', g.verdict || '',
    g.value === undefined ? '' : show(g.value), g.bar === undefined ? '' : show(g.bar), g.why || '']);
  const columns = [{title: 'measure'}, {title: 'verdict'}, {title: 'value', number: true},
    {title: 'bar', number: true}, {title: 'why', words: true}];
  return [make('h3', {}, 'What was held against a bar'), plainTable(columns, rows, 'Measures')];
}
