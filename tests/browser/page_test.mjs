// The page that `paretopipe report` writes, in a real browser: what a reader sees, hovers over, filters and prints.
// page_test.sh runs it, with CHROMIUM (the program) and PAGES (the folder that browser-pages wrote).

import assert from 'node:assert/strict';
import {join} from 'node:path';
import {after, test} from 'node:test';

import {Browser} from './browser.mjs';

const browser = new Browser(process.env.CHROMIUM);
after(() => browser.close());

function open(name, view = {}) {
  return browser.open(join(process.env.PAGES, `${name}.html`), view);
}

function isQuiet(page) {
  assert.deepEqual(page.complaints, []);
  assert.equal(page.requests.length, 1, `more than the page itself was asked for: ${page.requests}`);
}

// Chooses as a reader does: what the option says.
function choose(page, filter, text) {
  return page.evaluate(`(() => {
    const select = document.querySelector('[data-filter="${filter}"]');
    select.selectedIndex = [...select.options].findIndex(option => option.text === ${JSON.stringify(text)});
    select.dispatchEvent(new Event('change'));
  })()`);
}

function tableRows(page) {
  return page.evaluate(`[...document.querySelectorAll('#splits tbody tr')].map(row => [...row.cells].map(cell => cell.textContent))`);
}

// Moves the mouse onto the mark of a split in the frontier chart; what the card says.
async function hoverOver(page, split) {
  const at = await page.evaluate(`(() => {
    const chart = chartIn('frontier-chart'), box = byId('frontier-chart').getBoundingClientRect();
    const [x, y] = chart.convertToPixel({xAxisIndex: 0, yAxisIndex: 0}, place(detailGroup().splits.find(one => one.split === '${split}')));
    return {x: box.x + x, y: box.y + y};
  })()`);
  await page.moveMouse(at.x - 40, at.y);
  await page.moveMouse(at.x, at.y);
  return cardIn(page, 'frontier-chart');
}

function cardIn(page, chart) {
  return page.evaluate(`new Promise(resolve => setTimeout(() => resolve(document.querySelector('#${chart} .card')?.innerText), 100))`);
}

for (const name of ['networks', 'disturbed', 'hostile', 'many', 'single', 'failed', 'predicted']) {
  for (const [width, dark] of [[1400, false], [1400, true], [390, false]]) {
    test(`the page "${name}" opens quietly and fits, ${width} pixels wide, ${dark ? 'dark' : 'light'}`, async () => {
      const page = await open(name, {width, dark});
      isQuiet(page);
      assert.ok(await page.evaluate('document.documentElement.scrollWidth') <= width, 'wider than the window');
      const drawn = name === 'failed' ? 2 : 4;  // no split has a breakdown or a utilisation, so their sections are hidden
      assert.equal(await page.evaluate(`document.querySelectorAll('.chart svg').length`), drawn);
      assert.equal(await page.evaluate(`byId('breakdown-chart').checkVisibility()`), name !== 'failed');
    });
  }
}

test('the table has every split that passes the filters, with its numbers and intervals', async () => {
  const page = await open('networks');
  await choose(page, 'Network', 'unshaped');
  const rows = await tableRows(page);
  assert.deepEqual(rows.map(([split]) => split), ['0/10 all remote', '3/10', '5/10', '6/10', '7/10', '10/10 all local']);
  const local = rows[5];
  assert.ok(local.some(text => /^18\.1 \[18\.0, 18\.2\] ms$/.test(text)), local.join(' | '));
  assert.equal(local[1], 'yes');
  assert.ok((await page.evaluate(`byId('reasons').textContent`)).includes('killed by signal 9'));
});

test('a page of predictions says that nothing was measured, and has no place for what only measurements have', async () => {
  const page = await open('predicted');
  assert.match(await page.evaluate(`byId('title').textContent`), /predicted/);
  assert.match(await page.evaluate(`byId('conclusion').textContent`), /^PREDICTED, not measured/);
  assert.doesNotMatch(await page.evaluate(`document.body.innerText`), /repetitions|Machines and set-up|medians over/i);
  const rows = await tableRows(page);
  assert.deepEqual(rows.map(([split]) => split), ['all local: 0-3 on pi', '2 uniform8: 0-1 on pi | 2-3 on server']);
  assert.ok(rows[1].some(text => /^41\.0 \[40\.0, 44\.0\] ms$/.test(text)), rows[1].join(' | '));
  assert.equal(rows[1].at(-1), 'stage 0');
  assert.match(await hoverOver(page, '2 uniform8'), /41\.0/);
});

test('filters by model, network and batch change the charts, the table and the conclusion', async () => {
  const page = await open('networks');
  assert.equal((await tableRows(page)).length, 12);
  const legend = () => page.evaluate(`byId('frontier-chart').textContent`);
  assert.match(await legend(), /unshaped/);
  await choose(page, 'Network', 'slow (emulated)');
  assert.equal((await tableRows(page)).length, 6);
  assert.doesNotMatch(await legend(), /unshaped/);
  await choose(page, 'Batch', '1');
  assert.deepEqual((await tableRows(page)).map(([split]) => split), ['7/10']);
  assert.match(await page.evaluate(`byId('conclusion').textContent`), /only split 7\/10 was compared/);
  isQuiet(page);
});

test('a filter that lets nothing pass any more falls back to what exists', async () => {
  const page = await open('networks');
  await choose(page, 'Details of', 'slow (emulated)');
  assert.match(await page.evaluate(`document.querySelector('.detail-of').textContent`), /slow/);
  await choose(page, 'Network', 'unshaped');
  assert.equal(await page.evaluate(`detailGroup().network`), 'unshaped');
  isQuiet(page);
});

test('filters whose values do not go together give way to the one that was chosen last', async () => {
  const page = await open('uneven');
  assert.equal(await page.evaluate(`detailGroup().batch`), 4);
  await choose(page, 'Micro-batch', '8');
  assert.equal(await page.evaluate(`detailGroup().batch`), 8);
  assert.equal(await page.evaluate(`document.querySelector('[data-filter="Batch"]').selectedOptions[0].text`), '8');
  assert.equal((await tableRows(page)).length, 2 * 6);
  isQuiet(page);
});

test('groups that no filter tells apart are named by the setting in which they differ', async () => {
  const page = await open('uneven');
  assert.deepEqual(await page.evaluate(`passingGroups().map(nameOf)`), ['compute eager', 'compute optimized']);
});

test('a page of trainings has their objectives on its axes and their numbers in its table', async () => {
  const page = await open('trained');
  const text = await page.evaluate(`byId('frontier-chart').textContent`);
  assert.match(text, /time of a step \(less is better\)/);
  assert.doesNotMatch(text, /undefined/);
  const headings = await page.evaluate(`[...document.querySelectorAll('#splits thead th')].map(cell => cell.textContent)`);
  assert.ok(headings.includes('step_time') && headings.includes('training_throughput'), headings.join());
  assert.ok(!headings.includes('latency_p50'), headings.join());
  const stages = await page.evaluate(`chartIn('utilisation-chart').getOption().series.map(({data}) => data)`);
  assert.deepEqual(stages, [[0.7, 0.7], [0.5, 0.5]]);
  isQuiet(page);
});

test('sorting by keyboard keeps the focus on the heading', async () => {
  const page = await open('networks');
  await page.evaluate(`document.querySelectorAll('#splits thead button')[0].focus()`);
  const heading = await page.evaluate(`document.activeElement.textContent`);
  await page.evaluate(`document.activeElement.click()`);
  assert.equal(await page.evaluate(`document.activeElement.textContent`), heading);
});

test('hovering over a split shows its numbers', async () => {
  const page = await open('networks');
  await choose(page, 'Network', 'unshaped');
  const card = await hoverOver(page, '10');
  assert.match(card, /Split 10\/10 all local/);
  assert.match(card, /latency_p50\s+18\.1 \[18\.0, 18\.2\] ms/);
  assert.match(card, /throughput\s+44\d \[/);
  isQuiet(page);
});

test('hovering over the bars tells the parts, which add up', async () => {
  const page = await open('networks');
  const {x, y} = await page.evaluate(`(() => {
    byId('breakdown-chart').scrollIntoView();
    const box = byId('breakdown-chart').getBoundingClientRect();
    const [x] = chartIn('breakdown-chart').convertToPixel({xAxisIndex: 0, yAxisIndex: 0}, ['3', 0]);
    return {x: box.x + x, y: box.y + box.height / 2};
  })()`);
  await page.moveMouse(x - 5, y);
  await page.moveMouse(x, y);
  const card = await cardIn(page, 'breakdown-chart');
  assert.match(card, /Split 3\/10: 25\.0 ms/);
  assert.match(card, /transfer to stage 1\s+12\.0 ms \(48 %\)/);
});

test('headings sort the table, there and back, and say so', async () => {
  const page = await open('networks');
  await choose(page, 'Network', 'unshaped');
  const press = () => page.evaluate(`[...document.querySelectorAll('#splits button')].find(one => one.textContent === 'latency_p50').click()`);
  const order = async () => (await tableRows(page)).map(([split]) => split.split('/')[0]);
  await press();
  assert.deepEqual(await order(), ['10', '7', '3', '5', '0', '6']);
  assert.equal(await page.evaluate(`document.querySelectorAll('[aria-sort="ascending"]').length`), 1);
  await press();
  assert.deepEqual(await order(), ['0', '5', '3', '7', '10', '6'], 'what has no number stays last');
});

test('all metrics are there on demand', async () => {
  const page = await open('networks');
  const few = await page.evaluate(`document.querySelectorAll('#splits thead th').length`);
  await page.evaluate(`byId('all-metrics').click()`);
  const headings = await page.evaluate(`[...document.querySelectorAll('#splits thead th')].map(th => th.textContent)`);
  assert.ok(headings.length > few);
  for (const name of await page.evaluate('[...metricNamed.keys()]')) assert.ok(headings.includes(name), name);
});

test('latency under load is a line a split over all rates, with what is saturated hollow, and a percentile of choice', async () => {
  const page = await open('load');
  isQuiet(page);
  assert.equal(await page.evaluate(`document.querySelectorAll('.chart svg').length`), 5);
  assert.equal(await page.evaluate(`byId('load-statistic').value`), 'p99');
  const text = () => page.evaluate(`byId('load-chart').textContent`);
  assert.match(await text(), /arrivals in image\/s.*split 3.*split 10/);
  const {x, y} = await page.evaluate(`(() => {
    byId('load-chart').scrollIntoView();
    const box = byId('load-chart').getBoundingClientRect();
    const [x, y] = chartIn('load-chart').convertToPixel({seriesIndex: 0}, [400, 90e6]);
    return {x: box.x + x, y: box.y + y};
  })()`);
  await page.moveMouse(x - 5, y);
  await page.moveMouse(x, y);
  const card = await cardIn(page, 'load-chart');
  assert.match(card, /Split 3\/10/);
  assert.match(card, /rate\s+400 image\/s/);
  assert.match(card, /latency p99\s+90\.0 ms/);
  assert.match(card, /saturated\s+yes/);
  await page.evaluate(`(() => {
    byId('load-statistic').value = 'p50';
    byId('load-statistic').dispatchEvent(new Event('change'));
  })()`);
  assert.match(await text(), /p50 of latency from arrival/);
  await choose(page, 'Load', 'Server at 400 image/s, 20 queries');
  assert.match(await text(), /split 3/, 'the filter chooses a group, and the curve goes over all rates');
  isQuiet(page);
  const other = await open('networks');
  assert.ok(!await other.evaluate(`byId('load-section').checkVisibility()`));
});

test('what disturbed the trials is listed with its cause, for those that pass the filters, and nothing where nothing did', async () => {
  const page = await open('disturbed');
  const shown = () => page.evaluate(`byId('disturbance-section').checkVisibility()`);
  await choose(page, 'Network', 'unshaped');
  assert.ok(await shown());
  assert.equal(await page.evaluate(`document.querySelector('#disturbances summary').textContent`),
               '2 measurements made again; 1 trial disturbed, but counted; 1 trial with a longer warm-up; 2 trials with outliers');
  await page.evaluate(`document.querySelector('#disturbances summary').click()`);
  const rows = await page.evaluate(`[...document.querySelectorAll('#disturbances tbody tr')].map(row => [...row.cells].map(cell => cell.innerText))`);
  assert.deepEqual(rows, [
    ['5/10', '1', 'outliers: batch 7 of the latency run and batches 5-7,9 of the throughput run', 'stage 1 waited 12 times for pages from disk'],
    ['5/10', '2', 'measured again', `other processes used 31 % of stage 0's CPUs (0)`],
    ['5/10', '2', 'outliers: batch 3 of the latency run', 'not known'],
    ['7/10', '1', 'measured again', `other processes used 31 % of stage 0's CPUs (0)`],
    ['7/10', '1', 'the warm-up of the throughput run became 2 batches longer', 'not known'],
  ]);
  await choose(page, 'Network', 'slow (emulated)');
  assert.ok(!await shown());
  isQuiet(page);
});

test('the data sheet says its verdict, its errors and why it may not be of these machines', async () => {
  const page = await open('disturbed');
  const text = await page.evaluate(`byId('calibration').innerText`);
  assert.match(text, /^MISSED: \d+ of 117 errors are within the promise/);
  assert.match(text, /This sheet was made on bench \(Some CPU, 4 CPUs\), and the trials ran on/);
  assert.match(text, /2026-01-01T00:00:00Z/);
  assert.match(text, /Before it began \(load: bench\)/);
  assert.match(text, /transfer\s+[\d.]+ ms, \d+ B, emulated\s+9\s+\d\s+\d+ us\s+\+24\d us/);
  assert.equal(await page.evaluate(`document.querySelectorAll('#calibration details tbody tr').length`), 18);
  const other = await open('networks');
  assert.ok(!await other.evaluate(`byId('calibration-section').checkVisibility()`));
  assert.ok(!await other.evaluate(`byId('disturbance-section').checkVisibility()`));
});

test('hostile strings are shown as the text that they are', async () => {
  const page = await open('hostile');
  const seen = await page.evaluate(`({
    title: byId('title').textContent, conclusion: byId('conclusion').textContent, table: byId('splits').textContent,
    reasons: byId('reasons').textContent, stages: byId('stages').textContent, provenance: byId('provenance').textContent,
    chart: byId('frontier-chart').textContent, disturbances: byId('disturbances').textContent,
    calibration: byId('calibration').textContent,
  })`);
  for (const [place, text] of Object.entries(seen)) assert.ok(text.includes('<img src=x onerror=hacked()>'), `${place}: ${text}`);
  const card = await hoverOver(page, '10');
  assert.ok(card.includes('onerror'), card);
  assert.equal(await page.evaluate(`document.querySelectorAll('img, b').length`), 0);
  assert.equal(await page.evaluate(`document.scripts.length`), 3);
  isQuiet(page);
});

test('the policy of the page lets no other script run and no request leave', async () => {
  const page = await open('single');
  await page.evaluate(`document.body.append(Object.assign(document.createElement('script'), {textContent: 'globalThis.injected = true'}))`);
  assert.equal(await page.evaluate('globalThis.injected ?? false'), false);
  const fetched = await page.evaluate(`fetch('http://127.0.0.1:9/').then(() => 'answered', error => error.name)`);
  assert.equal(fetched, 'TypeError');
  assert.equal(page.complaints.filter(text => text.includes('Content Security Policy')).length >= 2, true, page.complaints.join('\n'));
});

test('a chart has a name for those who do not see it, and every control one too', async () => {
  const page = await open('networks');
  const unnamed = await page.evaluate(`[
    ...[...document.querySelectorAll('.chart')].filter(one => one.checkVisibility() && (one.getAttribute('role') !== 'img' || !one.getAttribute('aria-label'))),
    ...[...document.querySelectorAll('select, input')].filter(one => !one.labels.length),
  ].length`);
  assert.equal(unnamed, 0);
});

test('dark and light differ, and a change of the scheme is followed', async () => {
  const page = await open('networks', {dark: true});
  const ink = () => page.evaluate(`getComputedStyle(document.querySelector('#frontier-chart text')).fill`);
  const dark = await ink();
  await page.send('Emulation.setEmulatedMedia', {features: [{name: 'prefers-color-scheme', value: 'light'}]});
  await page.evaluate(`new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)))`);
  assert.notEqual(await ink(), dark);
});

test('on paper a legend has all its names, and there is nothing to drag', async () => {
  const page = await open('many', {width: 390});
  const seen = () => page.evaluate(`({
    text: byId('breakdown-chart').textContent, sliders: chartIn('breakdown-chart').getOption().dataZoom.length,
  })`);
  const screen = await seen();
  assert.equal(screen.sliders, 1);
  assert.match(screen.text, /1\/\d/, 'a phone shows the legend in parts');
  await page.evaluate(`printing(true)`);
  const paper = await seen();
  assert.equal(paper.sliders, 0);
  assert.match(paper.text, /encode and decode/);
  assert.doesNotMatch(paper.text, /1\/\d/);
});

test('printing draws for paper and leaves the screen as it was', async () => {
  const page = await open('networks', {dark: true});
  const before = await page.evaluate(`byId('frontier-chart').querySelector('svg').outerHTML.length`);
  assert.ok((await page.pdf()).subarray(0, 5).equals(Buffer.from('%PDF-')));
  assert.equal(await page.evaluate(`document.documentElement.className`), '');
  assert.equal(await page.evaluate(`byId('frontier-chart').querySelector('svg').outerHTML.length`), before);
  isQuiet(page);
});
