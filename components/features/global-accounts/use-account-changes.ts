"use client";

import { useQueryClient } from "@tanstack/react-query";
import { queryKeyOf } from "@/components/features/session/query-key";
import { getGlobalAccount, listGlobalAccounts } from "@/lib/api-client/calls.gen";
import type { Account } from "./account";

export interface AccountDialogProps {
  readonly account: Account;
  readonly onClose: () => void;
}

/** Shows the account as the service answered it, here and in lists. */
export const useShowAccount = (): ((account: Account) => void) => {
  const queryClient = useQueryClient();
  return (account) => {
    queryClient.setQueryData(queryKeyOf(getGlobalAccount, { params: { id: account.id } }), account);
    void queryClient.invalidateQueries({ queryKey: queryKeyOf(getGlobalAccount) });
    void queryClient.invalidateQueries({ queryKey: queryKeyOf(listGlobalAccounts) });
  };
};
