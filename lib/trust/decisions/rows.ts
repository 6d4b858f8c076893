import { z } from "zod";
import { approverRole } from "@/lib/contracts/decisions";
import { bool, type Column, int, table, text, time } from "@/lib/platform/db/table";

// The tables of this module.

const bytes: Column<Uint8Array> = {
  type: "bytea",
  select: (name) => name,
  read: (stored) => stored as Uint8Array,
  write: (value) => `\\x${Buffer.from(value).toString("hex")}`,
};

const listOf = <T extends string>(schema: z.ZodType<T>): Column<readonly T[]> => ({
  type: "text[]",
  select: (name) => name,
  read: (stored) => z.array(schema).parse(stored),
  write: (value) => value,
});

const texts = listOf(z.string());

/** Table `decision_request`: an open request, as it is stored when it is made. */
export const newRequests = table({
  projectId: text,
  id: text,
  subjectType: text,
  subjectId: text,
  /** SHA-256 of everything that is approved. */
  digest: bytes,
  title: text,
  lines: texts,
  maker: text,
  makerUserId: text,
  otherMakers: texts,
  votesRequired: int,
  roles: listOf(approverRole),
  excludeMaker: bool,
  demandedBy: texts,
  private: bool,
  createdAt: time,
  expiresAt: time,
});

/** The votes that a request or a project needs; see `Requirement`. */
export const requirements = table({
  count: int,
  roles: listOf(approverRole),
  excludeMaker: bool,
});

/** The setting of a project; see `VotingSetting`. */
export const votingSettings = table({
  count: int,
  roles: listOf(approverRole),
  excludeMaker: bool,
  exemptKeys: bool,
});
