import { describe, expect, test } from "vitest";
import { mayMove, STATUSES, TRANSITIONS, type Status, type SubStatus } from "@/lib/core/status";
import { endOf, MOVES } from "@/lib/money/privacy/drive-step";
import { settledState } from "./state-repository";
import {
  LEG_CHANGES,
  LEG_TRANSITIONS,
  type LegState,
  PRIVATE_CHANGES,
  stageOfLegs,
  type State,
  type StateChanges,
  subStatusesBefore,
} from "./summary";

/**
 * With three legs one can move while the second defines the stage and the third has ended. More
 * legs would allow no further changes.
 */
const LEGS_MAX = 3;

/** `before → after`. */
type Change = `${State} → ${State}`;

const listed = (changes: StateChanges): Change[] =>
  Object.entries(changes).flatMap(([before, afters]) =>
    afters.map((after): Change => `${before as State} → ${after}`),
  );

interface Operation {
  readonly legs: readonly LegState[];
  readonly subStatus: SubStatus;
  readonly minimumBase: bigint;
}

/** Each leg is queued, or was sent by a linked wallet already. */
const beginnings = (count: number): LegState[][] =>
  count === 0
    ? [[]]
    : beginnings(count - 1).flatMap(
        (legs) =>
          [
            [...legs, "queued"],
            [...legs, "submitted"],
          ] as LegState[][],
      );

/** The state after these legs. Each completed leg brought 1. */
const settled = (
  { subStatus, minimumBase }: Operation,
  legs: readonly LegState[],
  delayed: boolean,
) =>
  settledState(
    { status: "processing", subStatus, minimumBase },
    legs.map((state) => ({ state, receivedBase: 1n, failure: null })),
    delayed,
  );

/** All next states: a leg moves, or the operation takes too long. */
const outcomesOf = (operation: Operation) => [
  { legs: operation.legs, to: settled(operation, operation.legs, true) },
  ...operation.legs.flatMap((leg, position) =>
    LEG_TRANSITIONS[leg].map((state) => {
      const legs = operation.legs.with(position, state);
      return { legs, to: settled(operation, legs, false) };
    }),
  ),
];

/**
 * All state changes that the code makes of operations with up to LEGS_MAX legs, over every path
 * through the states of the legs.
 */
const changesByLegs = (): Set<Change> => {
  const changes = new Set<Change>();
  const seen = new Set<string>();
  const open: Operation[] = [];
  for (const minimumBase of [1n, BigInt(LEGS_MAX)])
    for (let count = 1; count <= LEGS_MAX; count += 1)
      for (const legs of beginnings(count)) {
        const subStatus = stageOfLegs(legs);
        changes.add(`pending/prepared → processing/${subStatus}`);
        open.push({ legs, subStatus, minimumBase });
      }
  for (let operation = open.pop(); operation !== undefined; operation = open.pop()) {
    const { legs, subStatus, minimumBase } = operation;
    const key = `${legs.join()} ${subStatus} ${String(minimumBase)}`;
    if (seen.has(key)) continue;
    seen.add(key);
    for (const { legs: next, to } of outcomesOf(operation)) {
      if (to !== null) changes.add(`processing/${subStatus} → ${to.status}/${to.subStatus}`);
      if (to === null || to.status === "processing")
        open.push({ legs: next, subStatus: to?.subStatus ?? subStatus, minimumBase });
    }
  }
  return changes;
};

const PERSONAL = [
  "pending/awaiting_approval → pending/prepared",
  "pending/awaiting_approval → failed/awaiting_approval",
] as const;

/**
 * Changes that people and timeouts make. The SQL statements read the subStatuses from the table.
 */
const endsOf = (changes: StateChanges): Change[] =>
  (["cancelled", "expired"] as const).flatMap((status) =>
    subStatusesBefore(changes, status).map(
      (subStatus): Change => `pending/${subStatus} → ${status}/${subStatus}`,
    ),
  );

const sorted = (changes: Iterable<Change>): Change[] => [...changes].sort();

test("operations with legs make each listed change, and no other", () => {
  const made = new Set<Change>([...changesByLegs(), ...PERSONAL, ...endsOf(LEG_CHANGES)]);
  expect(sorted(made)).toEqual(sorted(listed(LEG_CHANGES)));
});

test("private operations make each listed change, and no other", () => {
  const ends = [
    ["completed"],
    ["completed", "failed"],
    ["failed"],
    ["failed", "failed"],
  ] as const;
  const moves = [
    ...Object.values(MOVES),
    ...ends.map((states) => endOf(states.map((state) => ({ state })))),
  ];
  const made = moves.flatMap(({ from, to }) =>
    from
      .map((before): [State, State] => [
        `${before.status}/${before.subStatus}`,
        `${to.status}/${to.subStatus}`,
      ])
      .flatMap(([before, after]): Change[] =>
        before === after ? [] : [`${before} → ${after}`],
      ),
  );
  expect(sorted(new Set([...made, ...PERSONAL, ...endsOf(PRIVATE_CHANGES)]))).toEqual(
    sorted(listed(PRIVATE_CHANGES)),
  );
});

describe("people and time", () => {
  test("cancel an operation until it runs, a private one until its proof is sent", () => {
    expect(subStatusesBefore(LEG_CHANGES, "cancelled")).toEqual([
      "awaiting_approval",
      "prepared",
    ]);
    expect(subStatusesBefore(PRIVATE_CHANGES, "cancelled")).toEqual([
      "awaiting_approval",
      "prepared",
      "proving",
    ]);
  });

  test("end only what awaits approval by expiry", () => {
    for (const changes of [LEG_CHANGES, PRIVATE_CHANGES])
      expect(subStatusesBefore(changes, "expired")).toEqual(["awaiting_approval"]);
  });
});

const statusOf = (state: string): Status => state.split("/")[0] as Status;

test("every listed change of status is one that writes allow", () => {
  for (const change of [...listed(LEG_CHANGES), ...listed(PRIVATE_CHANGES)]) {
    const [before, after] = change.split(" → ").map(statusOf);
    if (before === undefined || after === undefined) throw new Error(change);
    expect(before === after || mayMove(before, after), change).toBe(true);
  }
});

test("writes allow no other change of status, but the one of payouts", () => {
  const made = new Set(
    [...listed(LEG_CHANGES), ...listed(PRIVATE_CHANGES)].map((each) =>
      each.split(" → ").map(statusOf).join(" → "),
    ),
  );
  const allowed = STATUSES.flatMap((before) =>
    TRANSITIONS[before].map((after) => `${before} → ${after}`),
  );
  // The only remaining change is that of a payout that sent nothing.
  expect(allowed.filter((change) => !made.has(change))).toEqual(["processing → cancelled"]);
});
