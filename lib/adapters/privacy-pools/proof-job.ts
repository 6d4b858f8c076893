import { z } from "zod";

/** A bigint in a message to the proving process, where it is a decimal string. */
const integer = z.string().regex(/^\d+$/).transform(BigInt);

const secrets = { value: integer, label: integer, nullifier: integer, secret: integer };

/**
 * `key` identifies the tree, `known` is the number of leaves that the process already has, and
 * `added` are the leaves after them.
 */
const leaves = z.object({ key: z.string(), known: z.int().min(0), added: z.array(integer) });

export const proofJob = z.discriminatedUnion("circuit", [
  z.object({
    circuit: z.literal("withdraw"),
    ...secrets,
    withdrawn: integer,
    context: integer,
    newNullifier: integer,
    newSecret: integer,
    commitment: integer,
    /** All leaves of the pool, and all approved labels with their root in the contract. */
    state: leaves,
    association: leaves.extend({ root: integer }),
  }),
  z.object({ circuit: z.literal("commitment"), ...secrets }),
]);

export type ProofJob = z.output<typeof proofJob>;

const words = z.array(integer);

export const groth16Proof = z.object({
  pA: z.tuple([integer, integer]),
  pB: z.tuple([z.tuple([integer, integer]), z.tuple([integer, integer])]),
  pC: z.tuple([integer, integer]),
  pubSignals: words,
});

export type Groth16Proof = z.output<typeof groth16Proof>;

export const proverMessage = z.union([
  z.object({ ready: z.literal(true) }),
  /** `artifactsRead`: number of circuit files that the process has read since its start. */
  z.object({ proof: groth16Proof, artifactsRead: z.int() }),
  z.object({ failure: z.string(), code: z.enum(["not_in_tree", "failed"]) }),
]);

export const toMessage = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_key, item: unknown) =>
      typeof item === "bigint" ? item.toString() : item,
    ),
  );
