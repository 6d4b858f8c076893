export interface BoardPart {
  readonly name: string;
  readonly state: "ready" | "off" | "restarting" | "stopped" | "failed";
  /** A word or two, such as "taken over" or "block 12". */
  readonly detail?: string;
  readonly address?: string;
  readonly tookMs?: number;
}

export interface Board {
  readonly parts: readonly BoardPart[];
  readonly url: string;
  readonly readyMs: number;
  readonly notes: readonly string[];
}

const MARKS = { ready: "●", off: "○", restarting: "◐", stopped: "○", failed: "✕" } as const;
const COLOURS = { ready: 32, off: 90, restarting: 33, stopped: 90, failed: 31 } as const;

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

const widest = (texts: readonly string[]): number =>
  Math.max(0, ...texts.map((text) => text.length));

const rowsOf = (parts: readonly BoardPart[], colour: boolean): string[] => {
  const cells = parts.map((part) => ({
    mark: colour
      ? `\u001b[${String(COLOURS[part.state])}m${MARKS[part.state]}\u001b[0m`
      : MARKS[part.state],
    name: part.name,
    state: part.detail ? `${part.state}, ${part.detail}` : part.state,
    address: part.address ?? "",
    took: part.tookMs === undefined ? "" : seconds(part.tookMs),
  }));
  const name = widest(cells.map((cell) => cell.name));
  const state = widest(cells.map((cell) => cell.state));
  const address = widest(cells.map((cell) => cell.address));
  return cells.map((cell) =>
    `  ${cell.mark} ${cell.name.padEnd(name)}   ${cell.state.padEnd(state)}   ${cell.address.padEnd(address)}   ${cell.took}`.trimEnd(),
  );
};

const PHASE_WIDTH = 28;

/**
 * One line for a part that has just become ready; scripts/phase.mjs prints the earlier phases the
 * same way.
 */
export const renderPhase = (name: string, tookMs: number): string =>
  `  ✓ ${name.padEnd(PHASE_WIDTH)} ${seconds(tookMs)}`;

/**
 * The summary that `npm start` prints when everything runs: each part with state and address, then
 * the URL of the app.
 */
export const renderBoard = (board: Board, colour: boolean): string =>
  [
    "",
    `  Causeway is ready (${seconds(board.readyMs)})`,
    "",
    ...rowsOf(board.parts, colour),
    "",
    ...board.notes.map((note) => `  ${note}`),
    "",
    `  ${board.url}`,
    "",
  ].join("\n");
