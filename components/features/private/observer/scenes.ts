import { countText } from "@/lib/core/amount-text";

/**
 * Describes a private move as everybody sees it on the chain, and as its owner sees it. Pictures
 * and texts both use these descriptions, so they cannot differ.
 */

export type SceneKind = "shield" | "transfer" | "inside" | "swap" | "unshield" | "public_exit";

/**
 * `planned`: a form that is not sent. `waiting`: stored, and nothing is on the chain. `proving`: a
 * proof is made. `sent`: a transaction is on its way. `completed`: the transaction is final.
 * `ended`: the operation ended before it sent anything.
 */
export type Stage = "planned" | "waiting" | "proving" | "sent" | "completed" | "ended";

export interface Observed {
  readonly kind: SceneKind;
  readonly stage: Stage;
  /** Amount with its unit, such as `25 USDC`; `… USDC` while no amount is typed. */
  readonly amount: string;
  /** The amount that arrives, when it differs: the note of a shield, or the output of a swap. */
  readonly arrives: string | null;
  readonly wallet: string;
  readonly recipient: string;
  readonly pool: string;
  /** The pool of a swap's new note; null for other moves. */
  readonly toPool: string | null;
  /** The name of a swap's exchange; null while it is unknown. */
  readonly swapVenue: string | null;
  /** The number of approved deposits in the pool; null while it is unknown. */
  readonly setSize: number | null;
}

export type NodeLook =
  /** A person or address that the observer can identify. */
  | "known"
  /** A person or address that only the wallet's owner knows. */
  | "private"
  /** One of many: drawn as a crowd of dots. */
  | "crowd"
  | "pool"
  | "exchange"
  /** A party whose identity is hidden. */
  | "unknown";

export interface SceneNode {
  readonly look: NodeLook;
  readonly title: string;
  readonly detail: string;
}

export interface SceneEdge {
  /** The amount, or the text that replaces it. */
  readonly label: string;
  /**
   * `hidden`: money moves, but the observer cannot see which or how much. `todo`: the money has not
   * moved yet.
   */
  readonly look: "seen" | "private" | "hidden" | "todo";
}

/**
 * A scene with up to three nodes and the edges between them. The last node and the last edge can
 * be null.
 */
export interface Scene {
  readonly nodes: readonly [SceneNode, SceneNode, SceneNode | null];
  readonly edges: readonly [SceneEdge, SceneEdge | null];
  /** The scene in sentences, for the list beside the picture. */
  readonly points: readonly string[];
}

export interface ObserverScenes {
  readonly chain: Scene;
  readonly owner: Scene;
}

const isOnChain = (stage: Stage): boolean =>
  stage === "planned" || stage === "sent" || stage === "completed";

/** `3 deposits`. */
export const setText = (size: number | null): string =>
  size === null ? "deposits" : `${countText(size)} deposit${size === 1 ? "" : "s"}`;

const crowd = (size: number | null): SceneNode => {
  if (size !== null && size <= 1)
    return { look: "crowd", title: "The only one", detail: "nothing hides it" };
  return {
    look: "crowd",
    title: size === null ? "One of many" : `1 of ${countText(size)}`,
    detail: "deposits",
  };
};

const poolNode = ({ pool, setSize }: Observed): SceneNode => ({
  look: "pool",
  title: pool,
  detail: setText(setSize),
});

/** An edge with the given look. While nothing is on the chain, the look is `todo` instead. */
const edge = (label: string, look: SceneEdge["look"], stage: Stage): SceneEdge => ({
  label,
  look: isOnChain(stage) ? look : "todo",
});

const NOTHING_YET: Partial<Record<Stage, string>> = {
  waiting: "Nothing is on the chain yet.",
  proving: "Nothing is on the chain while the proof is made.",
  ended: "No money moved on the chain.",
};

/**
 * Sentences of the public view. While nothing is on the chain, they begin with a sentence that says
 * so.
 */
const points = (stage: Stage, lines: readonly string[]): readonly string[] => {
  const nothing = NOTHING_YET[stage];
  if (nothing === undefined) return lines;
  return stage === "ended" ? [nothing] : [nothing, "Once it is sent:", ...lines];
};

/** Sentences of the owner's view. They promise nothing for an operation that has ended. */
const ownPoints = (stage: Stage, lines: readonly string[]): readonly string[] => {
  if (stage === "ended") return ["It ended without a result. Where the money is stands above."];
  return isOnChain(stage) ? lines : ["Once it is sent:", ...lines];
};

const hides = (size: number | null): string => {
  if (size === null) return "Which deposit paid it stays hidden among the pool's deposits.";
  if (size <= 1) return "The pool has no other deposit: everybody knows which one paid it.";
  return `Which of ${setText(size)} paid it stays hidden.`;
};

const TREASURY: SceneNode = { look: "known", title: "Treasury", detail: "its address" };
const NEW_NOTE: SceneNode = { look: "unknown", title: "A new note", detail: "owner hidden" };
const walletNode = (title: string, detail: string): SceneNode => ({
  look: "private",
  title,
  detail,
});

const shield = (it: Observed): ObserverScenes => {
  const { amount, arrives, wallet, stage } = it;
  const note = arrives ?? amount;
  return {
    chain: {
      nodes: [TREASURY, poolNode(it), NEW_NOTE],
      edges: [edge(amount, "seen", stage), edge("?", "hidden", stage)],
      points: points(stage, [
        `The treasury deposited ${amount}, and when.`,
        "Who owns the note is hidden, and so is when it is spent.",
      ]),
    },
    owner: {
      nodes: [TREASURY, poolNode(it), walletNode(wallet, "your note")],
      edges: [edge(amount, "seen", stage), edge(note, "private", stage)],
      points: ownPoints(stage, [
        `${wallet} owns a note of ${note}.`,
        "It can be spent once the deposit is approved.",
      ]),
    },
  };
};

const withdrawal = (it: Observed, toTreasury: boolean): ObserverScenes => {
  const { amount, recipient, wallet, stage, setSize } = it;
  const paid: SceneNode = { look: "known", title: recipient, detail: "its address" };
  return {
    chain: {
      nodes: [crowd(setSize), poolNode(it), paid],
      edges: [edge("?", "hidden", stage), edge(amount, "seen", stage)],
      points: points(stage, [
        `A relayer paid ${amount} out of the pool to ${recipient}, and when.`,
        hides(setSize),
        toTreasury
          ? "The treasury also deposited into this pool: equal amounts and near times connect the two."
          : "Equal amounts and near times can connect it with a deposit.",
      ]),
    },
    owner: {
      nodes: [walletNode(wallet, "your notes"), poolNode(it), paid],
      edges: [edge(amount, "private", stage), edge(amount, "seen", stage)],
      points: ownPoints(stage, [
        `${wallet} pays exactly ${amount} to ${recipient}.`,
        "The rest stays yours, as a new note.",
      ]),
    },
  };
};

const inside = (it: Observed): ObserverScenes => {
  const { amount, recipient, wallet, stage, setSize } = it;
  return {
    chain: {
      nodes: [crowd(setSize), poolNode(it), NEW_NOTE],
      edges: [edge("?", "hidden", stage), edge(amount, "seen", stage)],
      points: points(stage, [
        `${amount} left a note and came back as a new one, and when.`,
        hides(setSize),
        "Who gave it and who owns the new note is hidden.",
      ]),
    },
    owner: {
      nodes: [walletNode(wallet, "pays"), poolNode(it), walletNode(recipient, "receives")],
      edges: [edge(amount, "private", stage), edge(amount, "private", stage)],
      points: ownPoints(stage, [
        `${wallet} gives exactly ${amount} to ${recipient}.`,
        "The money stays in the pool.",
      ]),
    },
  };
};

const swap = (it: Observed): ObserverScenes => {
  const { amount, arrives, wallet, stage, setSize, toPool, swapVenue } = it;
  const bought = arrives ?? "–";
  const middle: SceneNode = {
    look: "exchange",
    title: swapVenue ?? "Exchange",
    detail: toPool === null ? "swap" : `to ${toPool}`,
  };
  return {
    chain: {
      nodes: [crowd(setSize), middle, NEW_NOTE],
      edges: [edge(amount, "seen", stage), edge(bought, "seen", stage)],
      points: points(stage, [
        `${amount} left a pool and were swapped for ${bought}, which were deposited again, and when.`,
        hides(setSize),
        "Who owns the new note is hidden.",
      ]),
    },
    owner: {
      nodes: [walletNode(wallet, "your notes"), middle, walletNode(wallet, "your new note")],
      edges: [edge(amount, "private", stage), edge(bought, "private", stage)],
      points: ownPoints(stage, [
        `${wallet} gives ${amount} and gets ${bought}.`,
        "It happens in one transaction: all of it or nothing.",
      ]),
    },
  };
};

const publicExit = (it: Observed): ObserverScenes => {
  const { amount, stage, wallet } = it;
  const deposit: SceneNode = { look: "known", title: "The deposit", detail: "seen by all" };
  return {
    chain: {
      nodes: [deposit, poolNode(it), TREASURY],
      edges: [edge(amount, "seen", stage), edge(amount, "seen", stage)],
      points: points(stage, [
        `The treasury took its own deposit of ${amount} back, and when.`,
        "Nothing about it is hidden.",
      ]),
    },
    owner: {
      nodes: [walletNode(wallet, "your note"), poolNode(it), TREASURY],
      edges: [edge(amount, "seen", stage), edge(amount, "seen", stage)],
      points: ownPoints(stage, [`The note of ${amount} goes back to the treasury, whole.`]),
    },
  };
};

export const observerScenes = (it: Observed): ObserverScenes => {
  switch (it.kind) {
    case "shield":
      return shield(it);
    case "transfer":
      return withdrawal(it, false);
    case "unshield":
      return withdrawal(it, it.recipient === TREASURY.title);
    case "inside":
      return inside(it);
    case "swap":
      return swap(it);
    case "public_exit":
      return publicExit(it);
  }
};
