import type { EvmAddress } from "@/lib/ports/routing";
import { storedAddress } from "@/lib/ports/routing-json";

export interface Contact {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  /** Checksummed. */
  readonly address: EvmAddress;
  /** The user or API key that added it. */
  readonly createdBy: string;
  readonly createdAt: Date;
  /** Only an approved contact is paid where a policy asks for approved contacts. */
  readonly state: "proposed" | "approved";
  readonly approvedAt: Date | null;
  readonly approvedBy: string | null;
  readonly tags: readonly string[];
  /** Chains on which the address is meant to be paid; none: every chain. Shown to people; no payment is refused by it. */
  readonly chainIds: readonly number[];
}

/** A row of the table `contact`. */
interface StoredContact extends Omit<Contact, "address" | "state"> {
  readonly address: string;
  readonly state: string;
}

/** @throws ZodError when the stored address is none */
export const parseContact = (row: StoredContact): Contact => ({
  id: row.id,
  projectId: row.projectId,
  name: row.name,
  address: storedAddress.parse(row.address),
  createdBy: row.createdBy,
  createdAt: row.createdAt,
  state: row.state === "approved" ? "approved" : "proposed",
  approvedAt: row.approvedAt,
  approvedBy: row.approvedBy,
  tags: row.tags,
  chainIds: row.chainIds,
});
