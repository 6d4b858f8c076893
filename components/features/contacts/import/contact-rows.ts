/** Checks the rows of a file of contacts, and makes the request from them. */
import { addressProblem } from "@/components/features/file-import/address-cell";
import { namesChain } from "@/components/features/file-import/chain-names";
import { checkedBy } from "@/components/features/money-flow/field-checks";
import type { BodyInput } from "@/lib/contracts/contract";
import { createContact, type importContacts } from "@/lib/contracts/contacts";
import { countText } from "@/lib/core/amount-text";
import { tagsText } from "../tags-field";
import { parseTags } from "../use-contacts";
import type { ContactCells, ContactColumn } from "./contact-columns";

export interface ContactRow extends ContactCells {
  /** Identifies the row, also after other rows are removed. */
  readonly key: number;
}

export type CellProblems = Readonly<Partial<Record<ContactColumn, string>>>;

interface Chain {
  readonly id: number;
  readonly name: string;
}

type Sent = BodyInput<typeof importContacts>["contacts"][number];

const nameText = checkedBy(createContact.body.shape.name, "name", "Enter a name.");

const messageOf = (checked: {
  readonly error?: { readonly issues: readonly { readonly message: string }[] } | undefined;
}): string | null => checked.error?.issues[0]?.message ?? null;

const partsOf = (text: string): readonly string[] =>
  text
    .split(/[,;|]/)
    .map((part) => part.trim())
    .filter((part) => part !== "");

const EVERY_CHAIN = /^(?:every|all|any)(?: chains?)?$/i;

/** Ids of the named chains, or the first text that names no chain. */
const readChains = (
  text: string,
  chains: readonly Chain[],
): { readonly ids: number[] } | { readonly unknown: string } => {
  const parts = partsOf(text).filter((part) => !EVERY_CHAIN.test(part));
  const found = parts.map((part) => chains.find((chain) => namesChain(part, chain)));
  const missing = found.indexOf(undefined);
  return missing === -1
    ? { ids: found.flatMap((chain) => chain?.id ?? []) }
    : { unknown: parts[missing] ?? text };
};

const chainsProblem = (text: string, chains: readonly Chain[]): string | null => {
  const read = readChains(text, chains);
  return "unknown" in read
    ? `"${read.unknown.slice(0, 30)}" is no chain of this service. Empty means every chain.`
    : null;
};

const tagsOf = (text: string): string[] => parseTags(partsOf(text).join(","));

const problemsIn = (row: ContactCells, chains: readonly Chain[]): CellProblems => {
  const found: Record<ContactColumn, string | null> = {
    name: messageOf(nameText.safeParse(row.name)),
    address: addressProblem(row.address.trim()),
    chains: chainsProblem(row.chains, chains),
    tags: messageOf(tagsText.safeParse(tagsOf(row.tags).join(","))),
  };
  return Object.fromEntries(Object.entries(found).filter(([, problem]) => problem !== null));
};

/**
 * The problems of each row, by the row's key. When several rows have the same address, all of them
 * except the first have a problem.
 */
export const problemsOf = (
  rows: readonly ContactRow[],
  chains: readonly Chain[],
): ReadonlyMap<number, CellProblems> => {
  const first = new Map<string, number>();
  const problems = new Map<number, CellProblems>();
  rows.forEach((row, index) => {
    const found = problemsIn(row, chains);
    const address = row.address.trim().toLowerCase();
    const earlier = first.get(address);
    if (earlier === undefined) first.set(address, index);
    const repeated =
      earlier === undefined || found.address !== undefined
        ? {}
        : { address: `Row ${countText(earlier + 1)} has this address already.` };
    const all = { ...found, ...repeated };
    if (Object.keys(all).length > 0) problems.set(row.key, all);
  });
  return problems;
};

/** Converts the rows to rows of the request. All of them must be without problems. */
export const sentRows = (rows: readonly ContactRow[], chains: readonly Chain[]): Sent[] =>
  rows.map((row) => {
    const read = readChains(row.chains, chains);
    const tags = tagsOf(row.tags);
    return {
      name: row.name.trim(),
      address: row.address.trim(),
      // Chains and tags that the file does not name are left out, so that an existing contact
      // keeps its own.
      ...(row.chains.trim() === "" || "unknown" in read ? {} : { chainIds: read.ids }),
      ...(tags.length === 0 ? {} : { tags }),
    };
  });

/**
 * The messages of the service's error, by key of the sent row. Null when a message belongs to no
 * row, or when there are no messages.
 */
export const refusedCells = (
  details: readonly { readonly path: string; readonly message: string }[],
  rows: readonly ContactRow[],
): ReadonlyMap<number, CellProblems> | null => {
  const found = new Map<number, CellProblems>();
  for (const { path, message } of details) {
    const [, index, field = "address"] = /^contacts\.(\d+)(?:\.(\w+))?/.exec(path) ?? [];
    const row = index === undefined ? undefined : rows[Number(index)];
    if (row === undefined) return null;
    const column: ContactColumn =
      field === "name" || field === "tags"
        ? field
        : field === "chainIds"
          ? "chains"
          : "address";
    found.set(row.key, { [column]: `This ${message}.`, ...found.get(row.key) });
  }
  return found.size === 0 ? null : found;
};
