// Elements, numbers as text, and tips. Text from the record becomes text nodes, never markup.

function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === false || value === undefined || value === null) continue;
    if (name.startsWith('on')) {
      element.addEventListener(name.slice(2), value);
    } else {
      element.setAttribute(name, value === true ? '' : value);
    }
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

// A name that may go on in a new line behind its separators and between its words, not within them.
function breakable(name) {
  return name.split(/(?<=[/._:-])(?=[A-Za-z])|(?<=[a-z0-9])(?=[A-Z])/)
      .flatMap((part, i) => i ? [make('wbr', {}), part] : [part]);
}

function show(value, digits = 4) {
  if (value === undefined || value === null) return '\u2013';
  if (typeof value === 'string' && !['nan', 'inf', '-inf'].includes(value)) return value;
  const x = number(value);
  if (Number.isNaN(x)) return 'NaN';
  if (!Number.isFinite(x)) return x > 0 ? '\u221e' : '\u2212\u221e';
  if (x === 0) return '0';
  const size = Math.abs(x);
  const text = size >= 1e-3 && size < 1e6 ? String(Number(x.toPrecision(digits)))
                                          : x.toExponential(Math.max(0, digits - 2)).replace(/\.?0+e/, 'e');
  return text.replace('e+', 'e').replace(/-/g, '\u2212');
}

// Integers have all their digits.
function showWhole(value, whole, digits) {
  return whole && Number.isSafeInteger(value) ? String(value) : show(value === undefined ? 0 : value, digits);
}

// A tolerance that is shown in fewer digits still does.
function showAtLeast(value, whole) {
  const x = number(value);
  if (whole || !Number.isFinite(x) || x <= 0) return showWhole(x, whole, 4);
  const unit = 10 ** (Math.floor(Math.log10(x)) - 3);
  return show(Math.ceil(x / unit * (1 - 1e-12)) * unit);
}

function count(n) {
  return n.toLocaleString('en').replace(/,/g, '\u202f');
}

// "1 output", "3 outputs": for nouns whose plural is an s.
function some(n, noun) {
  return `${count(n)} ${noun}${n === 1 ? '' : 's'}`;
}

function seconds(value) {
  const s = number(value);
  if (s < 1e-3) return show(s * 1e6, 3) + ' \u00b5s';
  if (s < 1) return show(s * 1e3, 3) + ' ms';
  return show(s, 3) + ' s';
}

function bytes(value) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0, x = value;
  for (; x >= 1024 && unit + 1 < units.length; ++unit) x /= 1024;
  return show(x, 3) + ' ' + units[unit];
}

function shapeText(shape) {
  return shape && shape.length ? shape.join(' \u00d7 ') : 'scalar';
}

function place(index) {
  return '[' + (index || []).join(', ') + ']';
}

// A table of plain cells. A column: {title, number, words}; a row: strings or elements.
function plainTable(columns, rows, caption) {
  const className = (column) => column.number ? 'number' : column.words ? 'words' : undefined;
  const head = make('tr', {}, ...columns.map(
      (column) => make('th', {scope: 'col', class: className(column)}, column.title)));
  const body = rows.map((row) => make('tr', {}, ...row.map((cell, i) => i === 0
      ? make('th', {scope: 'row', class: className(columns[i])}, cell)
      : make('td', {class: className(columns[i])}, cell))));
  return make('div', {class: 'scroll'}, make('table', {},
      make('caption', {class: 'visually-hidden'}, caption), make('thead', {}, head),
      make('tbody', {}, ...body)));
}

function facts(entries) {
  const list = make('dl', {class: 'facts'});
  for (const [term, text] of entries) {
    if (text === undefined || text === '' || text === null) continue;
    list.append(make('dt', {}, term), make('dd', {}, text));
  }
  return list;
}

const tip = document.getElementById('tip');

function showTip(event, text) {
  tip.textContent = text;
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const x = Math.min(event.clientX + 14, innerWidth - box.width - 8);
  const below = event.clientY + 18;
  const y = below + box.height > innerHeight ? event.clientY - box.height - 12 : below;
  tip.style.left = Math.max(4, x) + 'px';
  tip.style.top = Math.max(4, y) + 'px';
}

function hideTip() {
  tip.hidden = true;
}

// Whether the colours have changed: drawings on canvases do not follow by themselves.
function onTheme(redraw) {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
}

function color(name) {
  return getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
}
