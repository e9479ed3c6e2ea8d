// Colours come from page.css: one source for light, dark and print.

function cssColour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

// True while the page is printed (main.js).
function onPaper() {
  return document.documentElement.classList.contains('printing');
}

function theme() {
  return {
    font: getComputedStyle(document.body).fontFamily,
    text: cssColour('text'),
    muted: cssColour('muted'),
    line: cssColour('line'),
    page: cssColour('page'),
    series: Array.from({length: 8}, (_, i) => cssColour(`series-${i + 1}`)),
    symbols: ['circle', 'triangle', 'diamond', 'rect', 'pin', 'arrow', 'roundRect', 'emptyCircle'],
  };
}

// What all charts have in common.

const charts = new Map();

function chartIn(id) {
  if (!charts.has(id)) charts.set(id, echarts.init(byId(id), null, {renderer: 'svg'}));
  return charts.get(id);
}

// `label` tells readers who cannot see the chart what it shows and where the numbers are.
function draw(id, label, option) {
  const colours = theme();
  const chart = chartIn(id);
  chart.setOption({
    ...option,
    animation: false,
    textStyle: {color: colours.text, fontFamily: colours.font},
    tooltip: {confine: true, transitionDuration: 0, className: 'tooltip', backgroundColor: colours.page, borderColor: colours.line,
      textStyle: {color: colours.text}, ...option.tooltip},
    grid: {left: 8, right: 16, top: 48, bottom: 8, outerBoundsMode: 'same', ...option.grid},
  }, {notMerge: true});
  byId(id).setAttribute('role', 'img');
  byId(id).setAttribute('aria-label', `${label} The table below has the numbers.`);
  return chart;
}

// Paper cannot be scrolled, so the printed legend shows all names, on as many lines as they need.
function legend(names) {
  const colours = theme();
  return {
    type: onPaper() ? 'plain' : 'scroll', top: 0, left: 0, data: names, itemWidth: 16, itemHeight: 10, textStyle: {color: colours.text},
    pageTextStyle: {color: colours.text}, pageIconColor: colours.text, pageIconInactiveColor: colours.line,
  };
}

function axis(name, more = {}) {
  const colours = theme();
  return {
    name, nameLocation: 'middle', nameGap: 28, nameTextStyle: {color: colours.muted},
    axisLabel: {color: colours.muted, hideOverlap: true}, axisLine: {lineStyle: {color: colours.muted}},
    splitLine: {lineStyle: {color: colours.line}}, ...more,
  };
}

// An axis for numbers of one unit; logarithmic if they span more than a factor of 30.
function valueAxis(name, values, unit, more = {}) {
  const most = Math.max(...values), least = Math.min(...values);
  const logarithmic = least > 0 && most / least > 30;
  const range = logarithmic ? powersAround(least, most, unit) : roundAround(least, most, unit);
  const axisLabel = {color: theme().muted, hideOverlap: true, formatter: value => formatMark(value, unit)};
  return axis(logarithmic ? `${name}, logarithmic` : name, {axisLabel, ...range, ...more});
}

function powersAround(least, most, unit) {
  const base = unit.startsWith('B') ? 2 : 10;
  const power = (value, round) => base ** round(Math.log(value) / Math.log(base));
  return {type: 'log', logBase: base, min: power(least, Math.floor), max: power(most, Math.ceil)};
}

function roundAround(least, most, unit) {
  // A single value is centred; no values at all still make an axis.
  const margin = least === most ? Math.abs(most) / 10 || 1 : 0;
  const [low, high] = least <= most ? [least - margin, most + margin] : [0, 1];
  const interval = roundStep(high - low, unit);
  return {type: 'value', interval, min: Math.floor(low / interval) * interval, max: Math.ceil(high / interval) * interval};
}

function splitAxis(splits) {
  const several = splits.some(split => String(split.split).includes(','));
  return axis(several ? 'split points: blocks before each cut' : 'split point: blocks on stage 0',
              {type: 'category', data: splits.map(split => split.split), splitLine: {show: false}});
}

// Many splits get a slider to zoom in.
function zoomFor(splits) {
  if (splits.length <= 60 || onPaper()) return {};
  const colours = theme();
  return {dataZoom: [{type: 'slider', height: 18, bottom: 6, textStyle: {color: colours.muted}}], grid: {bottom: 36}};
}

function resizeCharts() {
  for (const chart of charts.values()) chart.resize();
}
