// Puts the page together: the verdict is in the file already; then what was covered, and the parts
// that there are.

function coverage() {
  const box = document.getElementById('coverage');
  const lines = pairs.flatMap((pair, i) => [texts.pairs[i].summary, ...texts.pairs[i].tokens]
      .map((text) => make('p', {}, make('strong', {}, pair.title), ': ' + text)));
  if (record.error) lines.push(make('p', {class: 'wrong'}, 'The run was stopped: ' + record.error));
  for (const runner of record.runners || []) {
    if (runner.failure) {
      lines.push(make('p', {class: 'wrong'}, `${runner.name} failed: ${runner.failure.split('\n')[0]}`));
    }
  }
  for (const why of record.rejections || []) lines.push(make('p', {class: 'wrong'}, 'Failed: ' + why));
  for (const fault of record.faults || []) lines.push(make('p', {class: 'wrong'}, 'Not done: ' + fault));
  for (const note of record.notes || []) lines.push(make('p', {}, 'Note: ' + note));
  if (!hasCharts) {
    lines.push(make('p', {id: 'no-charts'}, 'This vernier was built without d3 (Debian: node-d3), ' +
        'so charts and graph are missing here; all numbers are there.'));
  }
  box.replaceChildren(...lines);
  if (texts.next) box.append(make('pre', {id: 'next'}, texts.next));
}

function pairChoice() {
  if (pairs.length < 2) return null;
  const choice = make('select', {id: 'pair', onchange: () => {
    state.pair = Number(choice.value);
    change('pair', {output: -1});
    chooseFirst();
  }}, ...pairs.map((pair, i) => make('option', {value: i, selected: i === state.pair},
    pair.title)));
  state.listeners.push((what) => {
    if (what === 'pair') choice.value = state.pair;
  });
  return make('div', {class: 'bar'}, make('label', {for: 'pair'}, 'runners'), choice);
}

// What is to blame, or the first that differs in the order of the graph, is what one looks for.
function chooseFirst() {
  const ordered = inGraphOrder(state.pair);
  const [culprit] = (pairs[state.pair] || {}).by_layer && (record.blame || {}).culprits || [];
  const wanted = (culprit && ordered.find((entry) => (culprit.outputs || []).includes(entry.output.name))) ||
      ordered.find((entry) => verdictOf(entry.output) === 'failed') || ordered[0];
  if (wanted) change('output', {output: wanted.index});
}

function runnersSection() {
  const runners = record.runners || [];
  if (!runners.length) return null;
  const fields = [
    ['framework', (r) => `${r.backend || ''} ${r.framework_version || ''}`], ['device', (r) => r.device],
    ['precision', (r) => r.precision], ['model', (r) => r.model], ['library', (r) => r.framework_path],
    ['loaded in', (r) => r.load_seconds ? seconds(r.load_seconds) : ''], ['iterations', (r) => String(r.iterations || 0)],
    ['first inference', (r) => r.latency_seconds ? seconds(r.latency_seconds.first) : ''],
    ['median, p95', (r) => r.latency_seconds
        ? `${seconds(r.latency_seconds.median)}, ${seconds(r.latency_seconds.p95)}` : ''],
    ['left out', (r) => (r.skipped_outputs || []).map((s) => `${s.name}: ${s.why}`).join('; ')],
    ['failure', (r) => r.failure],
  ];
  const rows = fields.map(([title, of]) => [title, ...runners.map((r) => of(r) || '\u2013')])
      .filter((row) => row.slice(1).some((cell) => cell !== '\u2013'));
  const columns = [{title: ''}, ...runners.map((r) => ({title: r.name, words: true}))];
  const together = runners.length > 1 ? make('p', {class: 'hint'},
      'Times are from a run in which the runners took turns: they are no benchmark.') : null;
  return make('section', {id: 'runners', 'aria-labelledby': 'runners-title'},
      make('h2', {id: 'runners-title'}, 'Runners'), plainTable(columns, rows, 'Runners side by side'),
      record.profile ? null : together);
}

function configurationSection() {
  const settings = origin.settings || [];
  const rows = (given) => settings.filter((s) => Boolean(s.given) === given)
      .map((s) => [s.option, s.value || '']);
  const columns = [{title: 'option'}, {title: 'value', words: true}];
  const section = make('section', {id: 'configuration', 'aria-labelledby': 'configuration-title'},
      make('h2', {id: 'configuration-title'}, 'To do it again'),
      make('pre', {id: 'repro'}, (origin.directory ? `cd ${origin.directory}\n` : '') + texts.command));
  section.append(facts([['vernier', record.vernier_version], ['started', origin.started],
    ['took', record.seconds ? seconds(record.seconds) : ''], ['exit code', String(record.exit_code || 0)],
    ['system', origin.system],
    ['processor', origin.processor ? `${origin.processor}, ${origin.processors} threads` : ''],
    ['model', record.graph && record.graph.model]]));
  const given = rows(true), defaults = rows(false);
  if (given.length) section.append(make('h3', {}, 'Options given'), plainTable(columns, given, 'Options given'));
  if (defaults.length) {
    section.append(make('details', {}, make('summary', {}, 'Defaults of the other options'),
        plainTable(columns, defaults, 'Defaults')));
  }
  return section;
}

function build() {
  coverage();
  const main = document.getElementById('main');
  const left = make('div', {});
  for (const part of [blameSection(), decisionsSection(), pairChoice(), stepsSection(), tokensSection(),
    layersSection(), graphSection(), outputsSection()]) {
    if (part) left.append(part);
  }
  const panel = outputPanel();
  if (panel) main.append(make('div', {class: 'columns'}, left, panel));
  else main.append(left);
  for (const part of [profileSection(), runnersSection(), configurationSection()]) {
    if (part) main.append(part);
  }
  document.getElementById('footer').append('One file, nothing loaded from elsewhere. ' +
      'Every number is in the record of --save-record.');
  chooseFirst();
}

build();
