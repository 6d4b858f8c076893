"use client";

import { useMutation, useQueryClient, type UseMutationResult, type UseQueryResult } from "@tanstack/react-query";
import { queryKeyOf, useApi, useApiQuery } from "@/components/features/session/use-api";
import { createContact, deleteContact, listContacts } from "@/lib/contracts/contacts";
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

export const useDeleteContact = (): UseMutationResult<{ id: string }, Error, Contact> => {
  const api = useApi();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: ({ id }) => api.call(deleteContact, { params: { id } }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: queryKeyOf(listContacts) }),
  });
};
