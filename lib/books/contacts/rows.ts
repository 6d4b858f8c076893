import { z } from "zod";
import {
  address,
  nullable,
  oneOf,
  type RowOf,
  table,
  text,
  time,
  arrayOf,
  int,
} from "@/lib/platform/db/table";

export const contacts = table({
  id: text,
  projectId: text,
  name: text,
  /** Checksummed. */
  address,
  createdBy: text,
  createdAt: time,
  /**
   * If a policy requires approved contacts, only contacts in the state `approved` are paid. Screens
   * on which people decide show only the names of approved contacts.
   */
  state: oneOf(z.enum(["proposed", "approved"])),
  approvedAt: nullable(time),
  approvedBy: nullable(text),
  /** When the current name, address or chains were proposed. */
  proposedAt: time,
  /**
   * The user or API key that proposed the current name, address and chains; null for the creator of
   * the contact.
   */
  proposedBy: nullable(text),
  tags: arrayOf(text),
  /**
   * Chains on which the address may be paid, in ascending order; empty for every chain. An
   * approval covers only these chains.
   */
  chainIds: arrayOf(int),
});

export interface Contact extends RowOf<typeof contacts> {
  readonly proposedBy: string;
}

export const newContacts = contacts.pick(
  "id",
  "projectId",
  "name",
  "address",
  "createdBy",
  "createdAt",
  "proposedAt",
  "proposedBy",
  "tags",
  "chainIds",
);

/** The values that a change stores. */
export const changedContacts = contacts.pick("id", "name", "tags", "chainIds");

/** The values that an approval covers. */
export const shownContacts = contacts.pick("id", "name", "address", "chainIds");
