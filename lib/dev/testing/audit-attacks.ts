/** Attacks on the audit log by somebody who owns its tables, for tests that verify it. */

export interface AuditAttack {
  readonly name: string;
  readonly table: string;
  readonly statements: readonly (readonly [text: string, values?: () => readonly unknown[]])[];
  readonly found: RegExp;
  /** The last seal that still matches; null when none does. */
  readonly until: number | null;
  /** The evidence that is needed in addition to the database. */
  readonly by?: "saved heads" | "the chain" | "an anchor that the operator knows";
}

/** A head of chain A as it was at an earlier seal. */
export interface OlderHead {
  readonly seq: string;
  readonly hash: Buffer;
  readonly mac: Buffer;
}

interface AttackedLog {
  /** Ids of three projects. Each project has its own hash chain. */
  readonly projects: readonly [string, string, string];
  /** Heads of chain A, which belongs to the first project, at earlier seals. */
  readonly olderHeads: readonly OlderHead[];
}

const removeHistory = (project: string): AuditAttack["statements"] => [
  ["DELETE FROM audit_event WHERE project_id = $1", () => [project]],
  ["DELETE FROM audit_link WHERE chain = $1", () => [project]],
  ["DELETE FROM audit_head WHERE chain = $1", () => [project]],
];

/** Resets chain A to the state of an earlier seal, including the hash and the MAC of its head. */
const rewindA = (
  { projects: [A], olderHeads }: AttackedLog,
  seq: number,
): AuditAttack["statements"] => [
  [
    "DELETE FROM audit_event WHERE id IN (SELECT event_id FROM audit_link WHERE chain = $1 AND seq > $2)",
    () => [A, seq],
  ],
  ["DELETE FROM audit_link WHERE chain = $1 AND seq > $2", () => [A, seq]],
  [
    "UPDATE audit_head SET seq = $2, hash = $3, mac = $4, sealed_seq = $2 WHERE chain = $1",
    () => {
      const head = olderHeads.find((one) => Number(one.seq) === seq);
      return [A, seq, head?.hash, head?.mac];
    },
  ],
];

const removeSealsFrom = (number: number): AuditAttack["statements"] => [
  [`DELETE FROM audit_seal WHERE number >= ${String(number)}`],
  [`DELETE FROM audit_seal_head WHERE number >= ${String(number)}`],
];

/** Keeps only the rows of chain A up to seal 1, and removes everything else. */
const removeTheRest = (log: AttackedLog): AuditAttack["statements"] => [
  ...rewindA(log, 3),
  ...removeHistory(log.projects[1]),
  ...removeHistory(log.projects[2]),
  ["DELETE FROM audit_event WHERE project_id IS NULL"],
  ["DELETE FROM audit_link WHERE chain = 'service'"],
  ["DELETE FROM audit_head WHERE chain = 'service'"],
  ["DELETE FROM audit_anchor"],
  ...removeSealsFrom(1),
];

const EVENT_OF = "(SELECT event_id FROM audit_link WHERE chain = $1 AND seq = $2)";

/** Attacks on entries and their links. */
const entryAttacks = ({ projects: [A, B, C] }: AttackedLog): readonly AuditAttack[] => [
  {
    name: "an entry is deleted",
    table: "audit_event",
    statements: [[`DELETE FROM audit_event WHERE id = ${EVENT_OF}`, () => [A, 4]]],
    found: /row aud_\S+ of link 4 was removed/,
    until: 1,
  },
  {
    name: "an entry is rewritten",
    table: "audit_event",
    statements: [
      [`UPDATE audit_event SET actor = 'usr_2' WHERE id = ${EVENT_OF}`, () => [B, 3]],
    ],
    found: /row aud_\S+ of link 3 was changed or moved/,
    until: 2,
  },
  {
    name: "an entry is dated back",
    table: "audit_event",
    statements: [
      [`UPDATE audit_event SET created_at = 'epoch' WHERE id = ${EVENT_OF}`, () => [C, 1]],
    ],
    found: /row aud_\S+ of link 1 was changed or moved/,
    until: 2,
  },
  {
    name: "two links change places",
    table: "audit_link",
    statements: [
      ["UPDATE audit_link SET seq = 9 WHERE chain = $1 AND seq = 1", () => [A]],
      ["UPDATE audit_link SET seq = 1 WHERE chain = $1 AND seq = 2", () => [A]],
      ["UPDATE audit_link SET seq = 2 WHERE chain = $1 AND seq = 9", () => [A]],
    ],
    found: /of link 1 was changed or moved/,
    until: null,
  },
  {
    name: "an entry is deleted with its link",
    table: "audit_link",
    statements: [
      [`DELETE FROM audit_event WHERE id = ${EVENT_OF}`, () => [A, 5]],
      ["DELETE FROM audit_link WHERE chain = $1 AND seq = 5", () => [A]],
    ],
    found: /the chain ends at link 4, its head says 5/,
    until: 1,
  },
  {
    name: "an entry is kept out of its chain",
    table: "audit_unlinked",
    statements: [
      [
        "INSERT INTO audit_event (id, project_id, actor, action, data, created_at) VALUES ('aud_x', $1, 'usr_1', 'a.b', '{}', 'epoch')",
        () => [A],
      ],
      ["DELETE FROM audit_unlinked"],
    ],
    found: /row aud_x has no link/,
    until: 3,
  },
];

/** Attacks on the heads of chains. */
const chainAttacks = (log: AttackedLog): readonly AuditAttack[] => {
  const [A, , C] = log.projects;
  return [
    {
      name: "a head is deleted",
      table: "audit_head",
      statements: [["DELETE FROM audit_head WHERE chain = $1", () => [A]]],
      found: /the chain ends at link 5, its head says 0/,
      until: 3,
    },
    {
      name: "a head gets a code without the application secret",
      table: "audit_head",
      statements: [["UPDATE audit_head SET mac = 'guess' WHERE chain = $1", () => [A]]],
      found: /the code of its head was not made with APP_SECRET/,
      until: 3,
    },
    {
      name: "a chain is put back as it was at an earlier seal, head and code included",
      table: "audit_head",
      statements: rewindA(log, 3),
      found: /link 5, which seal 2 of 20\S+Z names, was removed/,
      until: 1,
    },
    {
      name: "the whole history of a project is deleted, head included",
      table: "audit_head",
      statements: removeHistory(A),
      found: /link 3, which seal 1 of 20\S+Z names, was removed/,
      until: null,
    },
    {
      name: "a chain is kept out of the seals",
      table: "audit_head",
      statements: [
        ["DELETE FROM audit_seal_head WHERE number = 3 AND chain = $1", () => [C]],
        ["UPDATE audit_seal SET at = at + interval '1 hour' WHERE number = 3"],
      ],
      found: /link 1 is under no seal, and later seals exist/,
      until: 2,
    },
  ];
};

/** Attacks on seals. */
const sealAttacks = ({ projects: [, , C] }: AttackedLog): readonly AuditAttack[] => [
  {
    name: "the whole history of a project is deleted, also from the seals",
    table: "audit_seal_head",
    statements: [
      ...removeHistory(C),
      ["DELETE FROM audit_seal_head WHERE chain = $1", () => [C]],
    ],
    found: /seal 3 of 20\S+Z or a head in it was changed or removed/,
    until: 2,
  },
  {
    name: "a head in a seal is forged",
    table: "audit_seal_head",
    statements: [["UPDATE audit_seal_head SET hash = sha256('x') WHERE number = 2"]],
    found: /seal 2 of 20\S+Z or a head in it was changed or removed/,
    until: 1,
  },
  {
    name: "a seal is deleted",
    table: "audit_seal",
    statements: [
      ["DELETE FROM audit_seal WHERE number = 2"],
      ["DELETE FROM audit_seal_head WHERE number = 2"],
    ],
    found: /seals 2 to 2 are missing/,
    until: 1,
  },
  {
    name: "a seal is dated back",
    table: "audit_seal",
    statements: [["UPDATE audit_seal SET at = at - interval '1 day' WHERE number = 3"]],
    found: /seal 3 of 20\S+Z or a head in it was changed or removed/,
    until: 2,
  },
  {
    name: "two seals change places",
    table: "audit_seal",
    statements: [
      ["UPDATE audit_seal SET number = 9 WHERE number = 1"],
      ["UPDATE audit_seal SET number = 1 WHERE number = 2"],
      ["UPDATE audit_seal SET number = 2 WHERE number = 9"],
    ],
    found: /seal 1 of 20\S+Z does not follow the seal before it/,
    until: null,
  },
  {
    name: "a seal gets a code without the application secret",
    table: "audit_seal",
    statements: [["UPDATE audit_seal SET mac = 'guess' WHERE number = 3"]],
    found: /the code of seal 3 of 20\S+Z was not made with APP_SECRET/,
    until: 3,
  },
];

/** Attacks on the end of the log, which only evidence outside of the database reveals. */
const replacementAttacks = (log: AttackedLog): readonly AuditAttack[] => [
  {
    name: "the newest seal is deleted",
    table: "audit_seal",
    statements: removeSealsFrom(3),
    found: /seal 3 is not the one that was written down/,
    until: 2,
    by: "saved heads",
  },
  {
    name: "the newest seals are deleted",
    table: "audit_seal",
    statements: removeSealsFrom(2),
    found: /seal 2 of the anchor 0xab\S+ on chain 31337 of 2026-11-29 was removed/,
    until: 1,
    by: "the chain",
  },
  {
    name: "the whole log is replaced by an earlier one, with its seals and anchors",
    table: "audit_seal",
    statements: removeTheRest(log),
    found: /seal 2 of the anchor 0xab\S+ on chain 31337 was removed/,
    until: null,
    by: "an anchor that the operator knows",
  },
  {
    name: "the whole log is replaced by an earlier one, with its seals and anchors",
    table: "audit_seal",
    statements: removeTheRest(log),
    found: /link 5 is not the one that was written down/,
    until: null,
    by: "saved heads",
  },
];

/** Attacks on anchors. */
const anchorAttacks: readonly AuditAttack[] = [
  {
    name: "an anchor is deleted",
    table: "audit_anchor",
    statements: [["DELETE FROM audit_anchor"]],
    found: /the anchor 0xab\S+ was removed/,
    until: 3,
  },
  {
    name: "an anchor is said to be in another transaction",
    table: "audit_anchor",
    statements: [["UPDATE audit_anchor SET tx_hash = '0xcd'"]],
    found: /the chain does not have the anchor 0xcd/,
    until: 1,
    by: "the chain",
  },
  {
    name: "an anchor is said to be of another seal",
    table: "audit_anchor",
    statements: [["UPDATE audit_anchor SET seal_number = 1"]],
    found: /the chain does not have the anchor 0xab/,
    until: 1,
    by: "the chain",
  },
  {
    name: "an anchor is invented",
    table: "audit_anchor",
    statements: [
      [
        "INSERT INTO audit_anchor SELECT 1, day, 3, '0xef', block_number, block_at, created_at FROM audit_anchor",
      ],
    ],
    found: /the anchor 0xef on chain 1 of 2026-11-29 has no entry in the audit log/,
    until: 2,
  },
];

/**
 * The attacks on a log with three seals. Seal 1: A until link 3, B until 2. Seal 2: A until 5; it
 * is anchored. Seal 3: B until 4, C until 2, and the chain of the service.
 */
export const auditAttacks = (log: AttackedLog): readonly AuditAttack[] => [
  ...entryAttacks(log),
  ...chainAttacks(log),
  ...sealAttacks(log),
  ...replacementAttacks(log),
  ...anchorAttacks,
];
