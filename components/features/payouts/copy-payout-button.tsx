"use client";

import { useMutation } from "@tanstack/react-query";
import { Copy } from "lucide-react";
import { useRouter } from "next/navigation";
import type { ReactNode } from "react";
import { toast } from "@/components/ui/toast";
import { useApi } from "@/components/features/session/use-api";
import { useTreasury } from "@/components/features/wallets/use-wallets";
import { Button } from "@/components/ui/button";
import { describeError } from "@/components/ui/describe-error";
import { saveDraft } from "./new/draft-store";
import type { DraftValues } from "./new/draft-row";
import type { Payout } from "./payout";
import { parseRowsFile, type PayoutRow } from "./rows-file";
import { readRowsFile } from "./use-payout-rows";

const toDraft = (row: PayoutRow): DraftValues => ({
  recipient: row.recipient,
  amount: row.amount,
  token: row.token === "" ? row.unit : row.token,
  reference: row.reference,
  note: row.note,
  ragged: false,
  checked: true,
});

const formOf = (payout: Payout): string =>
  payout.kind === "wallets"
    ? `/payouts/new?to=wallets&chain=${String(payout.chainId)}`
    : `/payouts/new?to=global_accounts&from=${payout.sourceAccountId}`;

/** Opens the form of a new payout with the rows of this one. */
export const CopyPayoutButton = ({ payout }: { readonly payout: Payout }): ReactNode => {
  const api = useApi();
  const router = useRouter();
  const treasury = useTreasury();
  const { mutate, isPending } = useMutation({
    mutationFn: () => readRowsFile(api, payout.payoutId),
    onSuccess: (csv) => {
      saveDraft({ owner: treasury?.id ?? "", kind: payout.kind }, parseRowsFile(csv).map(toDraft));
      router.push(formOf(payout));
    },
    onError: (error) => toast.error(`The rows could not be read. ${describeError(error).message}`),
  });
  return (
    <Button loading={isPending} disabled={treasury === undefined} onClick={() => mutate()}>
      {isPending ? null : <Copy aria-hidden />} Use as template
    </Button>
  );
};
