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

// The tables of this module.

/** Table `contact`. */
export const contacts = table({
  id: text,
  projectId: text,
  name: text,
  /** Checksummed. */
  address,
  /** The user or API key that added it. */
  createdBy: text,
  createdAt: time,
  /**
   * When a policy requires approved contacts, only these are paid; and only their names are shown
   * when people decide.
   */
  state: oneOf(z.enum(["proposed", "approved"])),
  approvedAt: nullable(time),
  approvedBy: nullable(text),
  /** When its current name, address or chains were proposed. */
  proposedAt: time,
  /**
   * Who proposed the current name, address and chains; null when the creator of the contact did.
   */
  proposedBy: nullable(text),
  tags: arrayOf(text),
  /**
   * Chains on which the address is to be paid, in ascending order; empty for every chain. An
   * approval is valid only for these.
   */
  chainIds: arrayOf(int),
});

export interface Contact extends RowOf<typeof contacts> {
  readonly proposedBy: string;
}

/** A contact as it is stored when it is proposed for the first time. */
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
