// The settings of A or B: sliders that are followed while they move, the mode, and sets of values for segments.

import { h, icon } from "../shared/dom.js";

const matches = (values, at) => Object.entries(values).every(([key, value]) => at[key] === value);
const shown = (value, step) => (step < 1 ? Number(value).toFixed(2) : String(Math.round(value)));

export class Controls {
  // `events`: change(settings of the side that is edited), settled() when a slider that was dragged is let go, edit(side), compare(), use(), reset()
  constructor(root, events) {
    this.root = root;
    this.events = events;
    this.known = null;
  }

  // `chosen` are the settings that were moved, `at` where every control stands.
  show({ known, chosen, at, side, comparing }) {
    if (!this.known) {
      this.known = known;
      this.build();
    }
    this.chosen = chosen;
    for (const [name, element] of Object.entries(this.sides)) element.setAttribute("aria-pressed", String(name === side));
    for (const slider of known.sliders) {
      const { input, output } = this.inputs.get(slider.key);
      if (document.activeElement !== input || !(this.moving || this.dragged)) input.value = String(at[slider.key]);
      this.fill(slider, input, output);
    }
    this.mode.value = at["retrieve.mode"];
    this.segments.value = Object.keys(known.segments).find((name) => matches(known.segments[name], at)) ?? "";
    this.reset.hidden = !Object.keys(chosen).length;
    this.compare.setAttribute("aria-pressed", String(comparing));
    this.compare.textContent = comparing ? "Hide the comparison" : "Compare A with B";
    this.use.textContent = `Use ${side.toUpperCase()} in Chat`;
    this.use.disabled = !Object.keys(chosen).length;
    this.used.textContent = "";
    this.inputs.get("retrieve.alpha").input.disabled = !this.known.modes.find(({ value }) => value === at["retrieve.mode"])?.alpha;
  }

  build() {
    this.inputs = new Map();
    const side = (name) => h("button", { type: "button", "aria-pressed": "false", onclick: () => this.events.edit(name) }, name.toUpperCase());
    this.sides = { a: side("a"), b: side("b") };
    this.reset = h("button", { type: "button", class: "gw-linkish", onclick: () => this.events.reset() }, "Reset");
    const [first, more] = [false, true].map((flag) => this.known.sliders.filter((slider) => slider.more === flag));
    const choice = (label, options, changes) => {
      const select = h("select", { class: "gw-field", "aria-label": label, onchange: () => this.changed(changes(select.value)) }, options.map(({ value, name }) => h("option", { value }, name)));
      return [select, h("label", { class: "pick" }, h("span", {}, label), select)];
    };
    const [mode, modeLabel] = choice("Search by", this.known.modes, (value) => ({ "retrieve.mode": value }));
    const sets = Object.keys(this.known.segments).map((value) => ({ value, name: value }));
    const [segments, segmentsLabel] = choice("Segments", [{ value: "", name: "by hand" }, ...sets], (name) => this.known.segments[name] ?? {});
    this.mode = mode;
    this.segments = segments;
    this.use = h("button", { type: "button", class: "gw-btn sm", onclick: () => this.events.use() });
    this.compare = h("button", { type: "button", class: "gw-btn sm", "aria-pressed": "false", onclick: () => this.events.compare() });
    this.used = h("p", { class: "used", role: "status" });
    this.root.replaceChildren(
      h("div", { class: "ph" }, h("span", { class: "seg", role: "group", "aria-label": "Setting to change" }, this.sides.a, this.sides.b), this.reset),
      ...first.map((slider) => this.slider(slider)),
      modeLabel,
      segmentsLabel,
      h("details", { class: "more" }, h("summary", {}, icon("chevron_right", "s16"), "Segment length and limits"), more.map((slider) => this.slider(slider))),
      h("div", { class: "cb" }, this.compare, this.use),
      this.used,
    );
  }

  slider(slider) {
    const id = `gw-x-${slider.key.replace(".", "-")}`;
    const output = h("output", { class: "num", for: id });
    const input = h("input", {
      id,
      type: "range",
      min: slider.low,
      max: slider.high,
      step: slider.step,
      "aria-describedby": `${id}-means`,
      oninput: () => {
        this.moving = true;
        this.fill(slider, input, output);
        this.changed({ [slider.key]: Number(input.value) });
      },
      onchange: () => (this.moving = false),
      onpointerdown: () => this.drag(),
    });
    this.inputs.set(slider.key, { input, output });
    return h("div", { class: "sl" }, h("label", { for: id }, slider.name, output), input, h("p", { id: `${id}-means` }, slider.means));
  }

  // From now on until the pointer is let go, wherever that is.
  drag() {
    this.dragged = true;
    const end = (event) => {
      if (event.type === "blur" && event.target !== window) return;
      for (const name of ["pointerup", "pointercancel", "blur"]) removeEventListener(name, end, true);
      this.dragged = this.moving = false;
      this.events.settled();
    };
    for (const name of ["pointerup", "pointercancel", "blur"]) addEventListener(name, end, true);
  }

  fill(slider, input, output) {
    output.textContent = shown(input.value, slider.step);
    input.style.setProperty("--p", `${((input.value - slider.low) / (slider.high - slider.low)) * 100}%`);
  }

  changed(changes) {
    this.chosen = { ...this.chosen, ...changes };
    this.events.change(this.chosen);
  }
}

