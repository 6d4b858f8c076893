import { z } from "zod";
import { POLICY_SCOPES, policyRules } from "@/lib/contracts/policy-rules";
import {
  bool,
  int,
  json,
  nullable,
  oneOf,
  type RowOf,
  table,
  text,
  time,
  decimal,
  date,
  arrayOf,
} from "@/lib/platform/db/table";

// The tables of this module, and the columns of its queries.

/**
 * Table `policy`: versions of policies. Reading fails for rules that cannot be parsed, so that no
 * money moves without them.
 */
export const policies = table({
  id: text,
  projectId: text,
  scope: oneOf(z.enum(POLICY_SCOPES)),
  subjectId: text,
  version: int,
  rules: json(policyRules),
  createdBy: text,
  createdAt: time,
});

export type Policy = RowOf<typeof policies>;

/** The people who received a secret of an API key: its maker, and those who rotated it. */
export const keyHolders = table({
  id: text,
  createdBy: text,
  rotatedBy: arrayOf(text),
});

/** Table `policy_usage`: amounts that were moved on a day. */
export const usages = table({
  scope: oneOf(z.enum(POLICY_SCOPES)),
  subjectId: text,
  /** `usd`, `usd_without_code` or `asset:<assetId>`. */
  unit: text,
  spent: decimal,
});

/** The amount that a project, wallet or API key moved on the same day before this movement. */
export type Usage = RowOf<typeof usages>;

/** A project's facts about an address that a movement pays. */
export const recipients = table({
  /**
   * An address, or the id of a private wallet whose mnemonic was shown. Nobody can approve such a
   * wallet, and no source clears it.
   */
  address: text,
  /**
   * True for a wallet whose key the service holds. Money that is paid there stays in the project.
   */
  isOwn: bool,
  /** `elsewhere`: the contact is approved, but not for the chain on which it is paid. */
  contact: nullable(oneOf(z.enum(["approved", "elsewhere", "proposed"]))),
  /**
   * When the contact was approved for the chain or the address was first paid, whichever was
   * earlier; null when neither has happened.
   */
  knownSince: nullable(time),
});

export type Recipient = RowOf<typeof recipients>;

export const spendings = table({
  projectId: text,
  apiKeyId: text,
  /** UTC day, such as `2026-01-31`. */
  day: date,
  /**
   * US dollars, decimal strings; Postgres computes with them exactly. `usd` is rounded up to the 6
   * digits that are stored.
   */
  usd: decimal,
  capUsd: decimal,
  /** Position of the amount in the list of amounts that one statement checks. */
  place: int,
});

export type Spending = Omit<RowOf<typeof spendings>, "place">;
