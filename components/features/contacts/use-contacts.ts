import { useMutation, type UseMutationResult } from "@tanstack/react-query";
import type { Proven } from "@/components/features/approvals/use-approvable";
import { apiPages } from "@/components/features/session/api-query";
import { useApi, useCache } from "@/components/features/session/use-api";
import { useWholeList } from "@/components/features/session/use-lists";
import {
  approveContact,
  approveContacts,
  createContact,
  deleteContact,
  evaluatePolicies,
  importContacts,
  listContacts,
  updateContact,
} from "@/lib/api-client/calls.gen";
import type { BodyInput, ResponseOf } from "@/lib/contracts/contract";
import { isSameText } from "@/lib/core/same-text";

export type Contact = ResponseOf<typeof listContacts>["data"][number];

const STALE_MS = 30_000;

/** All contacts, ordered by name. */
export const contactsQuery = { ...apiPages(listContacts, {}), staleTime: STALE_MS };

export const useContacts = () => useWholeList(contactsQuery);

const useBookChange = <Input, Answer>(
  mutationFn: (input: Input) => Promise<Answer>,
): UseMutationResult<Answer, Error, Input> => {
  const { refresh } = useCache();
  return useMutation({ mutationFn, onSuccess: () => refresh(listContacts) });
};

/** Adds a contact. If the address already has a contact, that contact is renamed. */
export const useSaveContact = () => {
  const api = useApi();
  return useBookChange((body: BodyInput<typeof createContact>) =>
    api.call(createContact, { body }),
  );
};

export const useUpdateContact = () => {
  const api = useApi();
  return useBookChange(
    ({ id, ...body }: BodyInput<typeof updateContact> & { readonly id: string }) =>
      api.call(updateContact, { params: { id }, body }),
  );
};

/**
 * Approves a contact, so that policies that require approved contacts allow payments to it. The
 * service first requires an approval by the person.
 */
export const useApproveContact = (): ((contact: Contact, proof: Proven) => Promise<void>) => {
  const api = useApi();
  const { refresh } = useCache();
  return async ({ id }, proof) => {
    await api.call(approveContact, {
      params: { id },
      body: proof,
    });
    await refresh(listContacts);
    void refresh(evaluatePolicies);
  };
};

/** Approves several contacts with one proof. Contacts that are already approved stay unchanged. */
export const useApproveContacts = (): ((
  ids: readonly string[],
  proof: Proven,
) => Promise<{ readonly approved: number }>) => {
  const api = useApi();
  const { refresh } = useCache();
  return async (ids, proof) => {
    const answer = await api.call(approveContacts, { body: { ids: [...ids], ...proof } });
    await refresh(listContacts);
    void refresh(evaluatePolicies);
    return answer;
  };
};

/** Stores the contacts of a file, or only checks them. */
export const useImportContacts = () => {
  const api = useApi();
  return useBookChange((body: BodyInput<typeof importContacts>) =>
    api.call(importContacts, { body }),
  );
};

export const useDeleteContact = () => {
  const api = useApi();
  return useBookChange(({ id }: Contact) => api.call(deleteContact, { params: { id } }));
};

interface ContactFilter {
  readonly q: string | null;
  readonly tag: string | null;
}

const holds = (text: string, part: string): boolean => text.toLowerCase().includes(part);

/** The contacts that have the tag and whose name, address or tags contain the text. */
export const filterContacts = (
  contacts: readonly Contact[],
  { q, tag }: ContactFilter,
): readonly Contact[] => {
  const part = (q ?? "").trim().toLowerCase();
  return contacts.filter(
    ({ name, address, tags }) =>
      (part === "" || [name, address, ...tags].some((text) => holds(text, part))) &&
      (tag === null || tags.some((one) => isSameText(one, tag))),
  );
};

/** All tags in alphabetical order, each once. */
export const tagsOf = (
  contacts: readonly { readonly tags: readonly string[] }[],
): readonly string[] =>
  [...new Set(contacts.flatMap(({ tags }) => tags))].sort((a, b) => a.localeCompare(b));

/**
 * Splits typed tags at commas: `Supplier, Berlin`. Removes empty tags and repeats, ignoring case.
 */
export const parseTags = (text: string): string[] => {
  const seen = new Set<string>();
  return text
    .split(",")
    .map((tag) => tag.trim())
    .filter((tag) => {
      const key = tag.toLowerCase();
      if (tag === "" || seen.has(key)) return false;
      seen.add(key);
      return true;
    });
};
