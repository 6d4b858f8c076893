import { clsx, type ClassValue } from "clsx";

/**
 * Groups of Tailwind utilities that set the same property: name of the group → its classes. Only
 * utilities of this project are listed, because tailwind-merge's table for all of Tailwind takes 9
 * KB. `cn.test.ts` compares both over every pair of classes in the code.
 */
const GROUPS: readonly (readonly [string, RegExp])[] = [
  ["sr-only", /^(not-)?sr-only$/],
  [
    "display",
    /^(block|inline|inline-block|flex|inline-flex|grid|inline-grid|table|contents|hidden)$/,
  ],
  ["position", /^(static|fixed|absolute|relative|sticky)$/],
  ["visibility", /^(in)?visible$/],
  ["flex-direction", /^flex-(row|col)/],
  ["flex-wrap", /^flex-(wrap|nowrap)/],
  ["flex", /^flex-./],
  ["text-size", /^text-(xs|sm|base|lg|\dxl|xl|\[\d+px\])$/],
  ["text-align", /^text-(left|center|right)$/],
  ["text-wrap", /^text-balance$/],
  ["text-color", /^text-./],
  ["font-family", /^font-(sans|mono)$/],
  ["font-weight", /^font-./],
  ["text-decoration", /^(underline|line-through|no-underline)$/],
  ["text-overflow", /^truncate$/],
  ["word-break", /^break-(all|words|normal)$/],
  ["break-inside", /^break-inside-/],
  ["border-collapse", /^border-collapse$/],
  ["border-width", /^border(-\d+)?$/],
  ["border-style", /^border-(solid|dashed|dotted|none)$/],
  ["border-color", /^border-(?![trblxy](-\d+)?$)./],
  ["rounded", /^rounded(-(?![trbl]-)[a-z]+)?$/],
  ["outline-style", /^outline-none$/],
  ["outline-width", /^outline-\d+$/],
  ["outline-color", /^outline-(?!offset)./],
  ["divide-width", /^divide-y(-\d+)?$/],
  ["ring-width", /^ring-\d+$/],
  ["ring-color", /^ring-./],
  ["list-type", /^list-(none|disc|decimal)$/],
  ["content", /^content-\[/],
  ["align-content", /^content-./],
];

/**
 * Groups whose classes have the form name, dash, value. Longer names come first, because the first
 * match counts.
 */
const BY_NAME = [
  ..."min-w max-w min-h max-h gap-x gap-y overflow-x overflow-y inset-x inset-y translate-x translate-y".split(
    " ",
  ),
  ..."grid-cols grid-rows grid-flow auto-cols col-start col-span row-start row-span justify-self outline-offset line-clamp".split(
    " ",
  ),
  ..."scroll-mb rounded-t rounded-b border-t border-r border-b border-l border-x border-y divide-x pointer-events".split(
    " ",
  ),
  ..."px py pt pr pb pl mx my mt mr mb ml top right bottom left p m w h z size gap items justify self bg fill stroke".split(
    " ",
  ),
  ..."leading tracking whitespace wrap select cursor shrink grow basis order opacity overflow inset translate rotate".split(
    " ",
  ),
  ..."transition duration ease animate align aspect shadow accent resize".split(" "),
];

/** For each group, the other groups that its classes also override. */
const COVERS: Readonly<Record<string, readonly string[]>> = {
  p: ["px", "py", "pt", "pr", "pb", "pl"],
  px: ["pr", "pl"],
  py: ["pt", "pb"],
  m: ["mx", "my", "mt", "mr", "mb", "ml"],
  mx: ["mr", "ml"],
  my: ["mt", "mb"],
  size: ["w", "h"],
  gap: ["gap-x", "gap-y"],
  flex: ["basis", "grow", "shrink"],
  inset: ["inset-x", "inset-y", "top", "right", "bottom", "left"],
  "inset-x": ["right", "left"],
  "inset-y": ["top", "bottom"],
  overflow: ["overflow-x", "overflow-y"],
  translate: ["translate-x", "translate-y"],
  rounded: ["rounded-t", "rounded-b"],
  "border-width": ["border-t", "border-r", "border-b", "border-l", "border-x", "border-y"],
  "border-x": ["border-r", "border-l"],
  "border-y": ["border-t", "border-b"],
  "text-size": ["leading"],
  "line-clamp": ["display", "overflow"],
};

const groupOf = (utility: string): string | undefined =>
  GROUPS.find(([, classes]) => classes.test(utility))?.[0] ??
  BY_NAME.find((name) => utility === name || utility.startsWith(`${name}-`));

/**
 * Matches the variants of a class such as `max-md:px-2!`. A class replaces another only when their
 * variants and importance are equal.
 */
const PARTS = /^((?:[^:[\]]|\[[^\]]*\])*:)*/;

interface Replaced {
  /** Key that a later class must have to replace this one. */
  readonly key: string;
  readonly covers: readonly string[];
}

const readClass = (name: string): Replaced | null => {
  const variants = PARTS.exec(name)?.[0] ?? "";
  const rest = name.slice(variants.length);
  const utility = rest.replace(/^!|!$/g, "");
  const group = groupOf(utility.replace(/^-/, ""));
  if (group === undefined) return null;
  const scope = `${variants}${utility === rest ? "" : "!"}`;
  return {
    key: scope + group,
    covers: (COVERS[group] ?? []).map((covered) => scope + covered),
  };
};

const known = new Map<string, Replaced | null>();

const cached = (name: string): Replaced | null => {
  const found = known.get(name);
  if (found !== undefined) return found;
  const read = readClass(name);
  known.set(name, read);
  return read;
};

/** Joins class names; a later Tailwind class wins over an earlier one of the same kind. */
export const cn = (...classes: ClassValue[]): string => {
  const kept: string[] = [];
  const replaced = new Set<string>();
  for (const name of clsx(classes).split(/\s+/).reverse()) {
    const read = cached(name);
    if (read !== null) {
      if (replaced.has(read.key)) continue;
      replaced.add(read.key);
      for (const covered of read.covers) replaced.add(covered);
    }
    kept.push(name);
  }
  return kept.reverse().join(" ");
};
