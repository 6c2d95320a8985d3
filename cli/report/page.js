// Makes charts of the page's figures: each has its data as JSON beside a canvas (cli/report/chart.c). Axes, legends and
// tooltips are Chart.js's; here is only what kind of mark each series is, in which colour, and what a tooltip says.
(function () {
  "use strict";
  var root = document.documentElement;
  var charts = {};
  window.reportCharts = charts;

  function colour(name) {
    return getComputedStyle(root).getPropertyValue("--" + name).trim();
  }

  function faded(name, share) {
    var hex = colour(name);
    var parts = [1, 3, 5].map(function (at) { return parseInt(hex.slice(at, at + 2), 16); });
    return "rgba(" + parts.join(",") + "," + share + ")";
  }

  // With digits enough for what stands so far apart (cli/digits.c).
  function number(value, spread) {
    if (value === null) return "-";
    var digits = spread > 0 && value !== 0 ? Math.floor(Math.log10(Math.abs(value))) - Math.floor(Math.log10(spread)) + 3 : 0;
    return String(Number(value.toPrecision(Math.max(5, Math.min(15, digits)))));
  }

  // How far the values of all series stand apart.
  function spread(chart, key) {
    var all = [].concat.apply([], chart.series.map(function (s) { return s[key]; })).filter(function (v) { return v !== null; });
    return all.reduce(function (a, b) { return Math.max(a, b); }, -Infinity) - all.reduce(function (a, b) { return Math.min(a, b); }, Infinity);
  }

  // Names that begin alike may end in what tells them apart.
  function shortened(name, most) {
    var tail = Math.floor(most / 3);
    return name.length > most ? name.slice(0, most - tail - 1) + "\u2026" + name.slice(-tail) : name;
  }

  // As much of the name as two fifths of the chart have room for.
  function fitting(drawn, name) {
    var most = 34;
    drawn.ctx.save();
    drawn.ctx.font = "12px " + Chart.defaults.font.family;
    while (most > 8 && drawn.ctx.measureText(shortened(name, most)).width > 0.4 * drawn.width) most--;
    drawn.ctx.restore();
    return shortened(name, most);
  }

  // A colour for each mark, weaker where few rows are.
  function shades(s, strong, weak) {
    return s.faded ? s.faded.map(function (few) { return faded(s.tone, few ? weak : strong); }) : faded(s.tone, strong);
  }

  // The same of the steps from one point to the next.
  function steps(s, key, weak) {
    var style = {};
    style[key] = function (step) { return s.faded[step.p0DataIndex] || s.faded[step.p1DataIndex] ? faded(s.tone, weak) : undefined; };
    return s.faded ? style : {};
  }

  function points(series, y) {
    return series.x.map(function (x, i) { return { x: x, y: y[i] }; });
  }

  // Consecutive pairs, with a gap behind each.
  function links(series) {
    var out = [];
    series.x.forEach(function (x, i) {
      out.push({ x: x, y: series.y[i] });
      if (i % 2) out.push({ x: x, y: NaN });
    });
    return out;
  }

  var makers = {
    points: function (s) {
      return [{ type: "scatter", label: s.x.length ? s.name : undefined, data: points(s, s.y), series: s,
        backgroundColor: faded(s.tone, s.size ? 0.85 : 0.5), borderColor: colour(s.tone), borderWidth: 0,
        pointRadius: s.size ? s.size.map(function (d) { return d / 2; }) : s.x.length > 300 ? 2.5 : 3.5, pointHoverRadius: s.size ? undefined : 6 }];
    },
    line: function (s) {
      return [{ type: "scatter", showLine: true, label: s.name, data: points(s, s.y), series: s, segment: steps(s, "borderColor", 0.3),
        borderColor: colour(s.tone), backgroundColor: colour(s.tone), pointBackgroundColor: shades(s, 1, 0.3), pointBorderColor: shades(s, 1, 0.3), borderWidth: 2, borderDash: s.tone === "rule" ? [6, 4] : [],
        pointStyle: s.tone === "rule" ? "line" : "circle", pointRadius: s.tone === "rule" ? 0 : 3, pointHitRadius: s.tone === "rule" ? 0 : 8 }];
    },
    band: function (s) {
      var quiet = { type: "scatter", showLine: true, pointRadius: 0, pointHitRadius: 0, borderWidth: 0, series: s };
      return [Object.assign({ data: points(s, s.y) }, quiet),
        Object.assign({ label: s.name, data: points(s, s.y2), fill: "-1", segment: steps(s, "backgroundColor", 0.08), pointStyle: "rect", backgroundColor: faded(s.tone, 0.3) }, quiet)];
    },
    // Points that stand back until somebody points at their owner.
    region: function (s) {
      return [{ type: "scatter", label: s.name, data: points(s, s.y), series: s, borderWidth: 0, pointRadius: 2, pointHitRadius: 0, pointHoverRadius: 2,
        backgroundColor: faded(s.tone, 0.2) }];
    },
    // Rectangles, drawn by the plugin below; their middles answer the pointer.
    cells: function (s) {
      return [{ type: "scatter", label: s.name, data: points(s, s.y), series: s, borderWidth: 0, pointStyle: "rect", pointRadius: 0, pointHitRadius: 4,
        backgroundColor: faded(s.tone, 0.35) }];
    },
    links: function (s) {
      return [{ type: "scatter", showLine: true, label: s.x.length ? s.name : undefined, data: links(s), series: s,
        borderColor: faded(s.tone, 0.6), backgroundColor: faded(s.tone, 0.6), borderWidth: 1, pointStyle: "line", pointRadius: 0, pointHitRadius: 0 }];
    }
  };

  function barSets(chart) {
    return chart.series.map(function (s) {
      if (s.kind === "bars") {
        return { type: "bar", label: s.name || chart.y_label, data: s.y, series: s, pointStyle: "rect", backgroundColor: faded(s.tone, 0.8) };
      }
      if (s.kind === "spans") {
        return { type: "bar", label: s.name, data: s.y.map(function (low, i) { return [low, s.y2[i]]; }), series: s, grouped: false, barThickness: 10, pointStyle: "rect",
          backgroundColor: shades(s, 0.35, 0.12) };
      }
      if (s.kind === "points") {
        return { type: "line", showLine: false, label: s.name, data: s.y, series: s, pointStyle: "circle", pointRadius: 5, backgroundColor: shades(s, 1, 0.3), borderWidth: 0 };
      }
      return { type: "line", label: s.name, data: s.y, series: s, borderColor: colour(s.tone), backgroundColor: colour(s.tone),
        borderWidth: 2, borderDash: [6, 4], pointStyle: "line", pointRadius: 0, pointHitRadius: 0 };
    });
  }

  // Keys of the legend, whose colours are not those of a faded first mark.
  function keys(drawn) {
    return Chart.defaults.plugins.legend.labels.generateLabels(drawn).map(function (key) {
      var s = drawn.data.datasets[key.datasetIndex].series;
      if (s.faded) key.fillStyle = key.strokeStyle = faded(s.tone, s.y2 ? 0.35 : 1);
      return key;
    });
  }

  // A place along an axis: a number, a date, or the level that is there.
  function along(chart, key, value) {
    var ticks = chart[key + "_ticks"];
    if (!ticks || value === null) return number(value, spread(chart, key));
    if (chart[key + "_dates"]) return new Date(1000 * value).toISOString().slice(0, 10);
    return ticks.reduce(function (a, b) { return Math.abs(b.at - value) < Math.abs(a.at - value) ? b : a; }).text;
  }

  // What the pointer is told of one mark.
  function told(chart, item) {
    var s = item.dataset.series, i = item.dataIndex;
    if (s.about) return s.about[i].split("\n");
    if (s.kind === "cells") return ["no training rows about here"];
    var lines = s.row ? ["row " + s.row[i]] : [];
    if (chart.category) return lines.concat([(s.name || chart.y_label) + " " + number(s.y[i], spread(chart, "y"))]);
    return lines.concat([chart.x_label + ": " + along(chart, "x", s.x[i]), chart.y_label + ": " + along(chart, "y", s.y[i])]);
  }

  function axis(text) {
    return { title: { display: true, text: shortened(text, 44), color: colour("quiet") }, ticks: { color: colour("quiet") }, grid: { color: colour("edge") } };
  }

  var rectangles = {
    id: "rectangles",
    beforeDatasetsDraw: function (drawn) {
      var x = drawn.scales.x, y = drawn.scales.y;
      drawn.data.datasets.forEach(function (set) {
        if (set.series.kind !== "cells") return;
        drawn.ctx.fillStyle = set.backgroundColor;
        set.data.forEach(function (middle) {
          var half = set.series.cell.map(function (side) { return side / 2; });
          var left = x.getPixelForValue(middle.x - half[0]), top = y.getPixelForValue(middle.y + half[1]);
          drawn.ctx.fillRect(left, top, x.getPixelForValue(middle.x + half[0]) - left, y.getPixelForValue(middle.y - half[1]) - top);
        });
      });
    }
  };

  // Shows the rows, the links and the neighbours of one owner, 0 of none.
  function pointOut(drawn, owner) {
    if ((drawn.pointedOut || 0) === owner) return;
    drawn.pointedOut = owner;
    var neighbours = [];
    drawn.data.datasets.forEach(function (set) {
      var of = set.series.owner;
      if (set.series.kind === "region") {
        set.backgroundColor = of.map(function (o) { return faded(set.series.tone, o === owner ? 1 : owner ? 0.08 : 0.2); });
      } else if (set.series.kind === "links") {
        var ends = function (step) { var at = 2 * Math.floor(step.p0DataIndex / 3); return of.slice(at, at + 2); };
        of.forEach(function (o, i) { if (of[i ^ 1] === owner) neighbours.push(o); });
        set.segment = {
          borderWidth: function (step) { return owner && ends(step).indexOf(owner) >= 0 ? 3 : undefined; },
          borderColor: function (step) { return owner && ends(step).indexOf(owner) >= 0 ? colour("text") : undefined; }
        };
      } else if (of) {
        set.borderColor = colour("text");
        set.borderWidth = of.map(function (o) { return o === owner ? 3 : neighbours.indexOf(o) >= 0 ? 2 : 0; });
      }
    });
    drawn.update("none");
  }

  // Keys of a legend do nothing: the keyboard would not reach them.
  function nothing() {}

  function hovered(event, marks, drawn) {
    var mark = marks.filter(function (m) { return drawn.data.datasets[m.datasetIndex].series.size; })[0];
    pointOut(drawn, mark ? drawn.data.datasets[mark.datasetIndex].series.owner[mark.index] : 0);
  }

  var leaving = {
    id: "leaving",
    afterEvent: function (drawn, told) { if (told.event.type === "mouseout") pointOut(drawn, 0); }
  };

  // Both axes the same, so that a line of equal values is the diagonal.
  function shareScale(chart, scales) {
    var all = [];
    chart.series.forEach(function (s) { all = all.concat(s.x, s.y, s.y2 || []); });
    all = all.filter(function (v) { return v !== null; });
    var low = Math.min.apply(null, all), high = Math.max.apply(null, all);
    ["x", "y"].forEach(function (name) { scales[name].suggestedMin = low; scales[name].suggestedMax = high; });
  }

  // Names instead of numbers, of which those that are too near to one before are left out; round numbers of seconds or of
  // positions are no ends for the axis.
  function showTicks(chart, key, scale) {
    var ticks = chart[key + "_ticks"], values = [].concat.apply([], chart.series.map(function (s) { return s[key]; })).filter(function (v) { return v !== null; });
    var low = values.reduce(function (a, b) { return Math.min(a, b); }, Infinity), high = values.reduce(function (a, b) { return Math.max(a, b); }, -Infinity);
    if (low < high) {
      scale.min = low - 0.05 * (high - low);
      scale.max = high + 0.05 * (high - low);
    }
    scale.afterBuildTicks = function (built) {
      var room = key === "x" ? 64 / (0.75 * built.chart.width) : 16 / (0.7 * built.chart.height);
      var apart = room * (built.max - built.min), kept = [];
      ticks.slice().sort(function (a, b) { return a.at - b.at; }).forEach(function (tick) {
        if (!kept.length || tick.at - kept[kept.length - 1].value >= apart) kept.push({ value: tick.at });
      });
      built.ticks = kept;
    };
    scale.ticks.callback = function (value) {
      var found = ticks.filter(function (tick) { return tick.at === value; });
      return found.length ? shortened(found[0].text, 18) : "";
    };
  }

  // A share that chance puts a little below 0 does not move the axis.
  function nearlyFromZero(chart) {
    var bars = chart.series.filter(function (s) { return s.kind === "bars"; });
    var all = [].concat.apply([], bars.map(function (s) { return s.y; }));
    return bars.length > 0 && Math.min.apply(null, all) > -0.05 * Math.max.apply(null, all);
  }

  function settings(chart) {
    var bars = Boolean(chart.category);
    var scales = bars ? { x: axis(chart.y_label), y: axis(chart.x_label) } : { x: axis(chart.x_label), y: axis(chart.y_label) };
    var sets = bars ? barSets(chart) : [].concat.apply([], chart.series.map(function (s) { return makers[s.kind](s); }));
    if (bars) {
      scales.x.beginAtZero = chart.series.some(function (s) { return s.kind === "bars"; });
      scales.y.title.display = false; // the chart's title has said it
      scales.y.grid.display = false;
      scales.y.ticks.autoSkip = false;
      scales.y.ticks.callback = function (place) { return fitting(this.chart, chart.category[place]); };
      if (nearlyFromZero(chart)) scales.x.min = 0;
    } else {
      scales.x.type = "linear";
      ["x", "y"].forEach(function (key) { if (chart[key + "_ticks"]) showTicks(chart, key, scales[key]); });
      scales.y.beginAtZero = chart.from_zero;
      if (chart.series.some(function (s) { return s.size; })) scales.x.grace = scales.y.grace = "8%";
    }
    if (chart.same_scale) shareScale(chart, scales);
    sets.forEach(function (set, k) { set.order = -k; }); // later ones on top
    var named = sets.filter(function (set) { return set.label; }).length;
    var owned = chart.series.some(function (s) { return s.owner; });
    return {
      plugins: owned ? [rectangles, leaving] : [rectangles],
      type: bars ? "bar" : "scatter",
      data: { labels: chart.category, datasets: sets },
      options: {
        animation: false, responsive: true, maintainAspectRatio: false, indexAxis: bars ? "y" : "x", scales: scales,
        interaction: { mode: "nearest", intersect: true }, onHover: owned ? hovered : undefined,
        plugins: {
          legend: { display: named > 1, onClick: nothing, labels: { color: colour("text"), usePointStyle: true, boxWidth: 22, boxHeight: 9, generateLabels: keys, filter: function (item) { return Boolean(item.text); }, sort: function (a, b) { return a.datasetIndex - b.datasetIndex; } } },
          tooltip: { displayColors: false, callbacks: { title: function (items) { return chart.category && items.length ? chart.category[items[0].dataIndex] : ""; },
            label: function (item) { return told(chart, item); } } }
        }
      }
    };
  }

  // Marks that the keyboard goes through, from left to right: those that answer the pointer.
  function marksOf(drawn) {
    var marks = [];
    drawn.data.datasets.forEach(function (set, k) {
      if (set.pointHitRadius === 0 || set.series.kind === "cells") return;
      drawn.getDatasetMeta(k).data.forEach(function (mark, i) { marks.push({ datasetIndex: k, index: i, x: mark.x, y: mark.y }); });
    });
    var along = drawn.options.indexAxis === "y" ? "y" : "x";
    return marks.sort(function (a, b) { return a[along] - b[along] || a.datasetIndex - b.datasetIndex || a.index - b.index; });
  }

  // Arrows go from mark to mark, Page keys by tenths, Home and End to the ends; Escape leaves.  What the pointer would be told is
  // shown, and said by the figure's status.
  var moves = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: 0, End: 0, Escape: 0 };
  function listen(figure, chart) {
    var canvas = figure.querySelector("canvas"), status = figure.querySelector("[role=status]"), at = -1;
    canvas.onkeydown = function (event) {
      var drawn = charts[figure.id], marks = marksOf(drawn);
      if (!(event.key in moves) || event.altKey || event.ctrlKey || event.metaKey || !marks.length) return;
      event.preventDefault();
      var far = Math.abs(moves[event.key]) > 1 ? Math.ceil(marks.length / 10) * Math.sign(moves[event.key]) : moves[event.key];
      at = event.key === "Escape" ? -1 : event.key === "Home" ? 0 : event.key === "End" ? marks.length - 1 : Math.max(0, Math.min(marks.length - 1, at + far));
      var chosen = at < 0 ? [] : [marks[at]];
      drawn.setActiveElements(chosen);
      if (drawn.options.onHover) drawn.options.onHover(event, chosen, drawn);
      drawn.tooltip.setActiveElements(chosen, at < 0 ? { x: 0, y: 0 } : marks[at]);
      drawn.update("none");
      status.textContent = at < 0 ? "" : (chart.category ? chart.category[marks[at].index] + ", " : "") +
        told(chart, { dataset: drawn.data.datasets[marks[at].datasetIndex], dataIndex: marks[at].index }).join(", ");
    };
    canvas.onblur = function () { if (at >= 0) canvas.onkeydown({ key: "Escape", preventDefault: function () {} }); };
  }

  function draw(figure) {
    var chart = JSON.parse(figure.querySelector("script").textContent);
    var live = figure.querySelector(".live");
    if (chart.category) live.style.height = 7 + 1.9 * chart.category.length + "rem";
    if (charts[figure.id]) charts[figure.id].destroy();
    figure.classList.add("is-live");
    charts[figure.id] = new Chart(figure.querySelector("canvas"), settings(chart));
    listen(figure, chart);
  }

  // A chart that fails leaves its picture.
  function drawAll() {
    document.querySelectorAll("figure.chart").forEach(function (figure) {
      try {
        draw(figure);
      } catch (error) {
        figure.classList.remove("is-live");
        console.error(figure.id, error);
      }
    });
  }

  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  drawAll();
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
})();
