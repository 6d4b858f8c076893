"use client";

import { useMutation, useQueryClient, type UseMutationResult, type UseQueryResult } from "@tanstack/react-query";
import type { GivenApproval } from "@/components/features/approvals/use-approvable";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApi, useApiQuery } from "@/components/features/session/use-api";
import {
  approveContact,
  createContact,
  deleteContact,
  evaluatePolicies,
  listContacts,
  updateContact,
} from "@/lib/api-client/calls.gen";
import type { BodyInput, ResponseOf } from "@/lib/contracts/contract";

export type ContactList = ResponseOf<typeof listContacts>;
export type Contact = ContactList["data"][number];

const STALE_MS = 30_000;

/** The project's address book, by name. */
export const useContacts = (): UseQueryResult<ContactList> => useApiQuery(listContacts, {}, { staleTimeMs: STALE_MS });

/** Puts an address into the book; one that is there already is renamed. */
export const useSaveContact = (): UseMutationResult<Contact, Error, BodyInput<typeof createContact>> => {
  const api = useApi();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (body) => api.call(createContact, { body }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: queryKeyOf(listContacts) }),
  });
};

/** Changes name, tags or chains of a contact. */
export const useUpdateContact = (): UseMutationResult<
  Contact,
  Error,
  BodyInput<typeof updateContact> & { readonly id: string }
> => {
  const api = useApi();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ id, ...body }) => api.call(updateContact, { params: { id }, body }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: queryKeyOf(listContacts) }),
  });
};

/** Approves a contact, so that it may be paid where a policy asks for approved contacts. The service asks for an approval first. */
export const useApproveContact = (): ((contact: Contact, approval?: GivenApproval) => Promise<void>) => {
  const api = useApi();
  const queryClient = useQueryClient();
  return async ({ id }, approval) => {
    await api.call(approveContact, { params: { id }, body: approval === undefined ? {} : { approval } });
    await queryClient.invalidateQueries({ queryKey: queryKeyOf(listContacts) });
    void queryClient.invalidateQueries({ queryKey: queryKeyOf(evaluatePolicies) });
  };
};

export const useDeleteContact = (): UseMutationResult<{ id: string }, Error, Contact> => {
  const api = useApi();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ id }) => api.call(deleteContact, { params: { id } }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: queryKeyOf(listContacts) }),
  });
};
