import type { Page } from "@playwright/test";

/**
 * Measures the page that is shown, and returns a line for each fault of its tables and texts: its
 * kind, the text of the element, and the numbers. Sizes are CSS pixels. The rules are those of
 * "Tables" in the design: no text is clipped without an ellipsis and its full value on hover, no
 * header wraps, a header's edge is over its column, a unit is right behind its number, nothing in
 * a row overlaps, and nothing scrolls sideways.
 */
export const layoutFaults = (page: Page): Promise<string[]> => page.evaluate(measure);

/** Runs in the browser, so this function uses nothing that is defined outside of it. */
const measure = (): string[] => {
  /** CSS pixels by which positions may differ, because browsers round fractional positions. */
  const TOLERANCE = 2;
  const UNIT_GAP_MAX = 8;
  /**
   * Boxes that overlap by less than this number of CSS pixels are no fault. Such boxes share for
   * instance a border or the space of a descender, and nobody sees the overlap.
   */
  const OVERLAP_MIN = 3;
  const NAME_LENGTH = 60;
  const ROWS_MEASURED = 60;
  /** Height of the highest row that is no fault: two lines of text with padding. */
  const ROW_HEIGHT_MAX = 60;
  const faults = new Set<string>();
  const root = document.querySelector("main") ?? document.body;

  interface Box {
    readonly left: number;
    readonly right: number;
    readonly top: number;
    readonly bottom: number;
  }
  interface Piece extends Box {
    readonly name: string;
    readonly node: Node;
  }

  const named = (element: Element | null): string => {
    const text = (element?.textContent ?? "").replaceAll(/\s+/g, " ").trim();
    return `“${text.slice(0, NAME_LENGTH)}”`;
  };
  const px = (size: number): string => `${String(Math.round(size))} px`;
  const squeezed = (text: string): string => text.replaceAll(/\s+/g, "").toLowerCase();
  const clips = ({ overflowX }: CSSStyleDeclaration): boolean =>
    overflowX === "hidden" || overflowX === "clip";

  const isHiddenItself = (element: Element): boolean => {
    const style = getComputedStyle(element);
    if (style.visibility === "hidden" || style.opacity === "0") return true;
    const { width, height } = element.getBoundingClientRect();
    return clips(style) && width <= 1 && height <= 1;
  };

  const hidden = new Map<Element, boolean>();
  /**
   * Whether the element is hidden, or only for screen readers. A text for screen readers is
   * clipped to one pixel.
   */
  const isForReaders = (element: Element): boolean => {
    if (element === root) return false;
    const known = hidden.get(element);
    if (known !== undefined) return known;
    const parent = element.parentElement;
    const is =
      !element.checkVisibility() ||
      isHiddenItself(element) ||
      (parent !== null && isForReaders(parent));
    hidden.set(element, is);
    return is;
  };

  const clippers = new Map<Element, readonly Box[]>();
  /** The boxes of the element and of its ancestors that clip their content. */
  const clippersOf = (element: Element | null): readonly Box[] => {
    if (element === null || element === root) return [];
    const known = clippers.get(element);
    if (known !== undefined) return known;
    const { overflowX, display } = getComputedStyle(element);
    const outer = clippersOf(element.parentElement);
    const all =
      overflowX === "visible" || display === "inline"
        ? outer
        : [...outer, element.getBoundingClientRect()];
    clippers.set(element, all);
    return all;
  };

  /** The part of a box that its clipping ancestors let through; null when there is none. */
  const visiblePart = (box: Box, from: Element | null): Box | null => {
    const all = [box, ...clippersOf(from)];
    const part = {
      left: Math.max(...all.map(({ left }) => left)),
      right: Math.min(...all.map(({ right }) => right)),
      top: Math.max(...all.map(({ top }) => top)),
      bottom: Math.min(...all.map(({ bottom }) => bottom)),
    };
    return part.right - part.left > 1 && part.bottom - part.top > 1 ? part : null;
  };

  const textBoxes = (node: Node): Box[] => {
    const range = document.createRange();
    range.selectNodeContents(node);
    return [...range.getClientRects()];
  };

  /** The visible texts and marks of an element, one piece for each line of a text. */
  const piecesOf = (element: Element): Piece[] => {
    const pieces: Piece[] = [];
    const walker = document.createTreeWalker(
      element,
      NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT,
    );
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const parent = node.parentElement;
      if (parent === null || parent.closest("svg") !== null) continue;
      const mark = node instanceof Element && node.tagName === "svg" ? node : null;
      const isText = node instanceof Text && node.textContent.trim() !== "";
      if ((mark === null && !isText) || isForReaders(parent)) continue;
      const boxes = mark === null ? textBoxes(node) : [mark.getBoundingClientRect()];
      for (const box of boxes) {
        const part = visiblePart(box, parent);
        if (part === null) continue;
        const name =
          mark !== null ? `mark beside ${named(parent)}` : `“${node.textContent ?? ""}”`;
        pieces.push({ ...part, name: name.slice(0, NAME_LENGTH), node });
      }
    }
    return pieces;
  };

  const around = (pieces: readonly Box[]): Box => ({
    left: Math.min(...pieces.map(({ left }) => left)),
    right: Math.max(...pieces.map(({ right }) => right)),
    top: Math.min(...pieces.map(({ top }) => top)),
    bottom: Math.max(...pieces.map(({ bottom }) => bottom)),
  });

  const checkSideways = (): void => {
    const { scrollWidth } = document.documentElement;
    if (scrollWidth > window.innerWidth)
      faults.add(
        `scrolls sideways: ${px(scrollWidth)} in a window of ${px(window.innerWidth)}`,
      );
  };

  /**
   * Whether hovering over the element shows its whole text: in a tooltip, or in the title or label
   * of the element or of an ancestor.
   */
  const saysAll = (element: Element): boolean => {
    const whole = squeezed(element.textContent);
    // A tooltip opens on hover and focus.
    if (element.closest("[tabindex='0'][data-state]") !== null) return true;
    for (let at: Element | null = element; at !== null && at !== root; at = at.parentElement) {
      if (squeezed(at.getAttribute("title") ?? "").includes(whole)) return true;
      if (squeezed(at.getAttribute("aria-label") ?? "").includes(whole)) return true;
    }
    return false;
  };

  const checkClipped = (element: HTMLElement): void => {
    const style = getComputedStyle(element);
    if (!clips(style) || element.clientWidth <= 1 || element.matches("input, textarea")) return;
    if (element.textContent.trim() === "" || isForReaders(element)) return;
    const isTooWide = element.scrollWidth > element.clientWidth + 1;
    const isTooHigh = element.scrollHeight > element.clientHeight + TOLERANCE;
    if (!isTooWide && !isTooHigh) return;
    const lines = style.getPropertyValue("-webkit-line-clamp");
    const hasEllipsis = isTooWide
      ? style.textOverflow === "ellipsis" && !/flex|grid/.test(style.display)
      : lines !== "none" && lines !== "";
    if (!hasEllipsis) faults.add(`clipped without an ellipsis: ${named(element)}`);
    else if (!saysAll(element))
      faults.add(`shortened without its full value: ${named(element)}`);
  };

  const checkHeaders = (headers: readonly Element[]): void => {
    const tops: number[] = [];
    for (const header of headers) {
      const pieces = piecesOf(header);
      if (pieces.length === 0) continue;
      const all = around(pieces);
      tops.push((all.top + all.bottom) / 2);
      const highest = Math.max(...pieces.map(({ top, bottom }) => bottom - top));
      if (all.bottom - all.top > highest * 1.6) faults.add(`header wraps: ${named(header)}`);
      const { left, right } = header.getBoundingClientRect();
      if (all.left < left - TOLERANCE || all.right > right + TOLERANCE)
        faults.add(`header is wider than its column: ${named(header)}`);
    }
    if (tops.length > 0 && Math.max(...tops) - Math.min(...tops) > 6)
      faults.add(`headers stand in ${px(Math.max(...tops) - Math.min(...tops))} of height`);
  };

  /**
   * The outer edges of a cell's content. A badge, a button and an input begin at their own edge,
   * which is outside of their text.
   */
  const contentOf = (cell: Element): Box | null => {
    const boxes: Box[] = piecesOf(cell);
    if (boxes.length === 0) return null;
    for (const element of cell.querySelectorAll("*")) {
      if (element.closest("svg") !== null || isForReaders(element)) continue;
      const { backgroundColor, borderLeftWidth, display } = getComputedStyle(element);
      const isFilled = backgroundColor !== "rgba(0, 0, 0, 0)" || borderLeftWidth !== "0px";
      if (display !== "inline" && isFilled) {
        const part = visiblePart(element.getBoundingClientRect(), element.parentElement);
        if (part !== null) boxes.push(part);
      }
    }
    return around(boxes);
  };

  const checkAlignment = (header: Element, cells: readonly Element[]): void => {
    const own = piecesOf(header);
    const contents = cells.flatMap((cell) => contentOf(cell) ?? []);
    if (own.length === 0 || contents.length === 0) return;
    const title = around(own);
    const isRight = ["right", "end"].includes(getComputedStyle(header).textAlign);
    const off = isRight
      ? title.right - Math.max(...contents.map(({ right }) => right))
      : title.left - Math.min(...contents.map(({ left }) => left));
    if (Math.abs(off) > TOLERANCE)
      faults.add(
        `header ${named(header)} is ${px(off)} off the ${isRight ? "right" : "left"} edge of its column`,
      );
    const outer = header.getBoundingClientRect();
    for (const { left, right } of contents)
      if (left < outer.left - TOLERANCE || right > outer.right + TOLERANCE)
        faults.add(`a cell of ${named(header)} reaches out of its column`);
  };

  const checkUnits = (row: Element): void => {
    const pieces = piecesOf(row).filter(({ node }) => node instanceof Text);
    for (const [index, number] of pieces.entries()) {
      const unit = pieces[index + 1];
      if (unit === undefined || unit.node === number.node) continue;
      const isAmount = /\d\s*$/.test(number.node.textContent ?? "");
      const isUnit = /^\s*[A-Z][A-Za-z.]{1,9}\s*$/.test(unit.node.textContent ?? "");
      const sameLine = Math.abs(number.bottom - unit.bottom) < OVERLAP_MIN;
      // A name that follows a number in another cell is no unit.
      const amount = unit.node.parentElement?.closest(".num");
      const isOneAmount = amount?.contains(number.node) === true;
      if (!isAmount || !isUnit || !sameLine || !isOneAmount) continue;
      const gap = unit.left - number.right;
      if (gap > UNIT_GAP_MAX)
        faults.add(`unit ${unit.name} is ${px(gap)} behind ${number.name} in ${named(row)}`);
    }
  };

  /**
   * Adds a fault when a text wraps within the row, or when the row is too high. A row has a second
   * line only when it shows a second text.
   */
  const checkWrapping = (row: Element): void => {
    const lines = new Map<Node, Set<number>>();
    for (const { node, top } of piecesOf(row)) {
      if (!(node instanceof Text)) continue;
      lines.set(node, (lines.get(node) ?? new Set<number>()).add(Math.round(top)));
    }
    for (const [node, tops] of lines)
      if (tops.size > 1) faults.add(`“${node.textContent ?? ""}” wraps in ${named(row)}`);
    const { height } = row.getBoundingClientRect();
    if (height > ROW_HEIGHT_MAX) faults.add(`a row is ${px(height)} high: ${named(row)}`);
  };

  const checkRow = (row: Element): void => {
    const pieces = piecesOf(row);
    const outer = row.getBoundingClientRect();
    for (const [index, one] of pieces.entries()) {
      if (one.top < outer.top - TOLERANCE || one.bottom > outer.bottom + TOLERANCE)
        faults.add(`${one.name} reaches out of its row ${named(row)}`);
      for (const other of pieces.slice(index + 1)) {
        if (one.node === other.node) continue;
        const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
        const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
        if (across >= OVERLAP_MIN && down >= OVERLAP_MIN)
          faults.add(`${one.name} overlaps ${other.name} by ${px(across)} in ${named(row)}`);
      }
    }
  };

  const checkTable = (table: Element): void => {
    const rows = [...table.querySelectorAll("[role=row], tr")];
    const headers = [...table.querySelectorAll("[role=columnheader], thead th")];
    const isShown = headers.some((header) => piecesOf(header).length > 0);
    const lines = rows.filter((row) => row.querySelector("[role=cell], td") !== null);
    if (isShown) {
      checkHeaders(headers);
      for (const [index, header] of headers.entries())
        checkAlignment(
          header,
          lines.slice(0, ROWS_MEASURED).flatMap((row) => row.children[index] ?? []),
        );
    }
    for (const row of lines.slice(0, ROWS_MEASURED)) {
      checkUnits(row);
      if (isShown) checkWrapping(row);
    }
  };

  checkSideways();
  for (const element of root.querySelectorAll<HTMLElement>("*"))
    if (element.closest("svg") === null) checkClipped(element);
  for (const table of root.querySelectorAll("[role=table], table")) checkTable(table);
  for (const row of [...root.querySelectorAll("[role=row], tr, li, dl > div")].slice(0, 200))
    if (row.querySelector("li, [role=row]") === null) checkRow(row);
  return [...faults];
};
