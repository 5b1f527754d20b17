// The table of outputs: filtered, sorted, one row chosen. It says everything that drawings say.

const firstRows = 200;

// A saved record of blame has the layers' errors and no more.
const hasDifferences = () => !record.blame ||
    pairs.some((pair) => (pair.outputs || []).some((output) => output.max_absolute_error !== undefined));

const outputColumns = [
  {key: 'place', title: 'order', number: true, of: (entry) => entry.position},
  {key: 'name', title: 'output', of: (entry) => entry.output.name},
  {key: 'op', title: 'made by', of: (entry) => entry.op, when: () => Boolean(record.graph)},
  {key: 'verdict', title: 'verdict', of: (entry) => verdictOf(entry.output)},
  {key: 'over', title: 'times over', number: true, of: (entry) => chartMetrics.over.of(entry.output)},
  {key: 'own', title: 'own error', number: true, when: () => Boolean(record.blame),
    of: (entry) => entry.output.own_error === undefined ? undefined : number(entry.output.own_error)},
  {key: 'abs', title: 'max abs', when: hasDifferences, number: true, of: (entry) => chartMetrics.abs.of(entry.output)},
  {key: 'out', title: 'out', number: true, when: hasDifferences,
    of: (entry) => entry.output.tolerances_checked ? entry.output.mismatches || 0 : undefined},
];

function compareValues(a, b) {
  if (a === undefined || b === undefined) return (a === undefined) - (b === undefined);
  if (typeof a === 'string') return a.localeCompare(b, 'en', {numeric: true});
  if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b);
  return a - b;
}

function outputsSection() {
  if (!pairs.length) return null;
  const section = make('section', {id: 'outputs', 'aria-labelledby': 'outputs-title'});
  const columns = outputColumns.filter((column) => !column.when || column.when());
  const filter = make('input', {type: 'search', id: 'filter', placeholder: 'name contains\u2026',
    oninput: draw});
  const verdict = make('select', {id: 'verdict', onchange: draw},
      make('option', {value: ''}, 'all verdicts'), make('option', {value: 'failed'}, 'failed'),
      make('option', {value: 'not verified'}, 'not verified'),
      make('option', {value: 'passed'}, 'passed'));
  const status = make('p', {class: 'hint', role: 'status', id: 'shown'});
  const body = make('tbody', {});
  const heads = columns.map((column) => make('th', {scope: 'col',
    class: column.number ? 'number' : undefined},
  make('button', {type: 'button', onclick: () => sortBy(column.key)}, column.title)));
  const more = make('button', {type: 'button', hidden: true, onclick: () => {
    limit = Infinity;
    draw();
  }}, 'Show all rows');
  let sort = {key: 'place', down: false};
  let limit = firstRows;
  section.append(make('div', {class: 'bar'}, make('h2', {id: 'outputs-title'}, 'Outputs'),
      make('label', {for: 'filter'}, 'filter'), filter,
      make('label', {for: 'verdict', class: 'visually-hidden'}, 'verdict'), verdict),
  make('div', {class: 'scroll'}, make('table', {'aria-labelledby': 'outputs-title'},
      make('thead', {}, make('tr', {}, ...heads)), body)), status, more);

  function sortBy(key) {
    const column = columns.find((c) => c.key === key);
    const first = column.number && key !== 'place';  // numbers: the largest first
    sort = {key, down: sort.key === key ? !sort.down : first};
    draw();
  }

  function rows() {
    const wanted = filter.value.toLowerCase();
    const column = columns.find((c) => c.key === sort.key);
    const entries = inGraphOrder(state.pair).map((entry, i) => {
      const node = nodeOf(entry.output);
      return {...entry, position: i + 1,
        op: node === undefined ? undefined : record.graph.nodes[node].op_type};
    });
    const kept = entries.filter((entry) => entry.output.name.toLowerCase().includes(wanted) &&
        (!verdict.value || verdictOf(entry.output) === verdict.value));
    const sign = sort.down ? -1 : 1;
    kept.sort((a, b) => {
      const x = column.of(a), y = column.of(b);
      // What was not measured stays at the end in either direction.
      const missing = (x === undefined) - (y === undefined);
      return missing || sign * compareValues(x, y) || a.position - b.position;
    });
    return {kept, all: entries.length};
  }

  function makeRow(entry) {
    const cells = columns.map((column) => {
      const value = column.of(entry);
      if (column.key === 'name') {
        return make('td', {class: 'words'}, make('button', {type: 'button', class: 'link'},
            ...breakable(value)));
      }
      const whole = column.key === 'abs' && entry.output.max_abs;  // with all digits
      const text = whole || (column.number && column.key !== 'place' && column.key !== 'out'
          ? show(value) : value === undefined ? '\u2013' : String(value));
      return make('td', {class: column.number ? 'number' : column.key},
          ...(column.key === 'op' ? breakable(text) : [text]));
    });
    return make('tr', {class: 'choice', 'data-output': entry.index,
      'data-verdict': verdictOf(entry.output), 'aria-selected': entry.index === state.output,
      onclick: () => change('output', {output: entry.index})}, ...cells);
  }

  function draw() {
    const {kept, all} = rows();
    body.replaceChildren(...kept.slice(0, limit).map(makeRow));
    mark();
    heads.forEach((head, i) => head.setAttribute('aria-sort', columns[i].key !== sort.key ? 'none'
        : sort.down ? 'descending' : 'ascending'));
    const shown = Math.min(limit, kept.length);
    status.textContent = kept.length === all && shown === all ? some(all, 'output')
        : `${shown} shown of ${kept.length} that fit, ${all} in all`;
    more.hidden = shown === kept.length;
  }

  function mark() {
    for (const row of body.children) {
      row.setAttribute('aria-selected', Number(row.dataset.output) === state.output);
    }
  }

  state.listeners.push((what) => what === 'pair' ? draw() : mark());
  draw();
  return section;
}
