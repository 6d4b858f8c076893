/** Stores many contacts with one request. */
import { type Actor, actorName } from "@/lib/core/actor";
import { DomainError, type ErrorDetail } from "@/lib/core/errors";
import type { EvmAddress } from "@/lib/core/evm";
import { newId } from "@/lib/core/ids";
import { recordAudits } from "@/lib/news/audit/service";
import type { Tx } from "@/lib/platform/db/client";
import { type ContactsDeps, entryOf, proposalOf, requireChains } from "./changes";
import { bookFull } from "./errors";
import { requestDigest } from "./digest";
import { CONTACTS_MAX } from "@/lib/contracts/contacts";
import type { createFlagging } from "./flagging";
import { contactsAt, countContacts, insertOrLockAll, storeAll } from "./repository";
import type { Contact } from "./rows";
import {
  type ContactChange,
  type ContactWarning,
  needsApproval,
  sameValues,
  valuesAfter,
} from "./rules";

interface ImportRow extends ContactChange {
  readonly name: string;
  readonly address: EvmAddress;
}

export interface ContactImport {
  readonly contacts: readonly ImportRow[];
  /** `skip` leaves a contact whose address is already in the book unchanged. */
  readonly existing: "skip" | "update";
  readonly validateOnly: boolean;
}

/** The outcome of one row. */
export interface ImportedContact {
  /** Null for a contact that was only checked. */
  readonly id: string | null;
  readonly name: string;
  readonly address: EvmAddress;
  readonly outcome: "created" | "updated" | "unchanged" | "skipped";
  /** The name that the address had in the book; null for a new contact. */
  readonly knownAs: string | null;
  readonly warnings: readonly ContactWarning[];
}

/** A row with the contact as it is stored and as it will be. */
interface Planned {
  readonly outcome: ImportedContact["outcome"];
  readonly before: Contact | null;
  readonly after: Contact;
}

/**
 * Reports every row that must not be stored: addresses that may never be paid, and addresses that
 * an earlier row has.
 * @throws DomainError `invalid_request`, `unsupported_chain`
 */
const requireRows = (deps: ContactsDeps, rows: readonly ImportRow[]): void => {
  const first = new Map<EvmAddress, number>();
  const refusals = new Map<string, (address: EvmAddress) => string | null>();
  const details: ErrorDetail[] = [];
  rows.forEach((row, index) => {
    requireChains(deps, row);
    const chainIds = row.chainIds ?? [];
    const key = chainIds.join();
    const refusalOf = refusals.get(key) ?? deps.recipients.refusals(chainIds);
    refusals.set(key, refusalOf);
    const path = `contacts.${String(index)}.address`;
    const refused = refusalOf(row.address);
    const earlier = first.get(row.address);
    if (refused !== null) details.push({ path, message: refused });
    else if (earlier !== undefined)
      details.push({ path, message: `is the address of row ${String(earlier + 1)} already` });
    else first.set(row.address, index);
  });
  const [wrong] = details;
  if (wrong !== undefined)
    throw new DomainError(
      "invalid_request",
      `${wrong.path} ${wrong.message}. Nothing was done.`,
      { details },
    );
};

const createPlanning = (
  deps: ContactsDeps,
  actor: Actor,
  existing: ContactImport["existing"],
) => {
  const { by, at } = proposalOf(deps, actor);
  const added = (row: ImportRow): Contact => ({
    id: newId("contact"),
    projectId: actor.projectId,
    address: row.address,
    ...valuesAfter(row),
    createdBy: actorName(actor),
    createdAt: at,
    state: "proposed",
    approvedAt: null,
    approvedBy: null,
    proposedAt: at,
    proposedBy: by,
  });
  /** @param before the contact that the book has at this address */
  const planned = (row: ImportRow, before: Contact | undefined): Planned => {
    if (before === undefined) return { outcome: "created", before: null, after: added(row) };
    if (existing === "skip") return { outcome: "skipped", before, after: before };
    const values = valuesAfter(row, before);
    if (sameValues(before, values)) return { outcome: "unchanged", before, after: before };
    const proposal = { state: "proposed", proposedAt: at, proposedBy: by } as const;
    const after = {
      ...before,
      ...values,
      ...(needsApproval(before, values) ? proposal : {}),
    };
    return { outcome: "updated", before, after };
  };
  return (rows: readonly ImportRow[], book: readonly Contact[]): readonly Planned[] => {
    const byAddress = new Map(book.map((contact) => [contact.address, contact]));
    return rows.map((row) => planned(row, byAddress.get(row.address)));
  };
};

/**
 * Returns a function that finds the warnings about the rows that will be stored. Its result has,
 * for each address, the warnings about it.
 */
const createWarning =
  ({ recipients }: ContactsDeps, flag: ReturnType<typeof createFlagging>) =>
  async (
    projectId: string,
    drafts: readonly Contact[],
  ): Promise<ReadonlyMap<EvmAddress, readonly ContactWarning[]>> => {
    const byChains = new Map<string, Contact[]>();
    for (const draft of drafts) {
      const key = draft.chainIds.join();
      byChains.set(key, [...(byChains.get(key) ?? []), draft]);
    }
    const [flagged, ...about] = await Promise.all([
      flag(projectId, drafts, drafts),
      ...[...byChains.values()].map((group) =>
        recipients.warnings({
          projectId,
          chainIds: group[0]?.chainIds ?? [],
          recipients: group.map(({ address }) => ({ path: address, address })),
          purpose: "store",
        }),
      ),
    ]);
    const found = new Map<EvmAddress, readonly ContactWarning[]>(
      flagged.map(({ address, warnings }) => [address, warnings]),
    );
    for (const { path, code, message } of about.flat()) {
      const address = path as EvmAddress;
      const known = found.get(address) ?? [];
      if (!known.some((warning) => warning.code === code))
        found.set(address, [{ code, path: "address", message }, ...known]);
    }
    return found;
  };

/** Writes the planned changes. The transaction has locked the contacts. */
const store = async (
  tx: Tx,
  deps: ContactsDeps,
  actor: Actor,
  plan: readonly Planned[],
): Promise<void> => {
  const { projectId } = actor;
  const changes = plan.flatMap(({ outcome, before, after }) =>
    outcome === "updated" && before !== null ? [{ before, after }] : [],
  );
  const isProposal = ({ before, after }: (typeof changes)[number]): boolean =>
    needsApproval(before, after);
  const proposals = changes.filter(isProposal).map(({ after }) => after);
  const others = changes.filter((change) => !isProposal(change)).map(({ after }) => after);
  await storeAll(tx, projectId, proposals, proposalOf(deps, actor));
  await storeAll(tx, projectId, others, null);
  const made = plan.filter(({ outcome }) => outcome === "created");
  if (made.length > 0 && (await countContacts(tx, projectId)) > CONTACTS_MAX) throw bookFull();
  await recordAudits(
    tx,
    plan
      .filter(({ outcome }) => outcome === "created" || outcome === "updated")
      .map(({ before, after }) => ({
        ...entryOf(deps, actor, after, before),
        action: "contact.saved",
      })),
  );
};

/** Returns the function that imports contacts. It stores all rows or none. */
export const createImporting = (
  deps: ContactsDeps,
  flag: ReturnType<typeof createFlagging>,
) => {
  const { database, clock } = deps;
  const warningsFor = createWarning(deps, flag);
  return async (
    actor: Actor,
    { contacts: rows, existing, validateOnly }: ContactImport,
  ): Promise<readonly ImportedContact[]> => {
    requireRows(deps, rows);
    const { projectId } = actor;
    const planOf = createPlanning(deps, actor, existing);
    const addresses = rows.map(({ address }) => address);
    const checked = planOf(rows, await contactsAt(database.prisma, projectId, addresses));
    const drafts = checked
      .filter(({ outcome }) => outcome === "created" || outcome === "updated")
      .map(({ after }) => after);
    const warnings = await warningsFor(projectId, drafts);
    const plan = validateOnly
      ? checked
      : await database.transaction(async (tx) => {
          await requestDigest(tx, projectId, clock.now());
          const added = planOf(rows, []).map(({ after }) => after);
          const stored = await insertOrLockAll(tx, added);
          const made = new Set(added.map(({ id }) => id));
          const before = stored.filter(({ id }) => !made.has(id));
          const locked = planOf(rows, before);
          const idAt = new Map(stored.map(({ address, id }) => [address, id]));
          const done = locked.map((one) => {
            const id = idAt.get(one.after.address) ?? one.after.id;
            return { ...one, after: { ...one.after, id } };
          });
          await store(tx, deps, actor, done);
          return done;
        });
    return plan.map(({ outcome, before, after }) => ({
      id: validateOnly && before === null ? null : after.id,
      name: after.name,
      address: after.address,
      outcome,
      knownAs: before?.name ?? null,
      warnings: warnings.get(after.address) ?? [],
    }));
  };
};
