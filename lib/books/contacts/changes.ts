/** The parts that all changes of contacts share. */
import { type Actor, actorName } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { type AuditEntry, doneBy, replaced } from "@/lib/news/audit/service";
import type { Database } from "@/lib/platform/db/client";
import type { ApprovalsService } from "@/lib/trust/proofs/service";
import type { RecipientsService } from "@/lib/trust/recipients/service";
import type { WalletsService } from "@/lib/trust/wallets/service";
import type { Proposal } from "./repository";
import type { Contact } from "./rows";
import type { ContactChange } from "./rules";

export interface ContactsDeps {
  readonly database: Database;
  readonly approvals: Pick<ApprovalsService, "requireApproval">;
  readonly wallets: Pick<WalletsService, "list">;
  readonly recipients: Pick<
    RecipientsService,
    "require" | "refusals" | "warnings" | "warningsOfRecords"
  >;
  readonly registry: {
    /** @throws DomainError `unsupported_chain` */
    get(chainId: number): { readonly name: string };
    list(): readonly { readonly id: number; readonly name: string }[];
  };
  readonly clock: Clock;
}

const auditedFields = ({ name, tags, chainIds, state }: Contact) => ({
  name,
  tags,
  chainIds: chainIds.map(String),
  state,
});

/**
 * The entry of the audit log about a change of a contact.
 * @param before the contact before the change; null for a new contact
 */
export const entryOf = (
  { clock }: Pick<ContactsDeps, "clock">,
  actor: Actor,
  contact: Contact,
  before: Contact | null = null,
): Omit<AuditEntry, "action"> => ({
  ...doneBy(actor),
  subject: contact.id,
  data: {
    ...{ address: contact.address, ...auditedFields(contact) },
    ...(before && replaced(auditedFields(before), auditedFields(contact))),
  },
  at: clock.now(),
});

/** Who proposes a contact, and when: the caller, now. */
export const proposalOf = ({ clock }: Pick<ContactsDeps, "clock">, actor: Actor): Proposal => ({
  by: actorName(actor),
  at: clock.now(),
});

export const requireChains = (
  { registry }: Pick<ContactsDeps, "registry">,
  { chainIds }: ContactChange,
): void => chainIds?.forEach((chainId) => void registry.get(chainId));
