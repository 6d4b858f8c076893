"use client";

import { useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { toast } from "@/components/ui/toast";
import { ApprovalDialog } from "@/components/features/money-flow/approval-dialog";
import type { MoneyProof } from "@/components/features/money-flow/types";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApiMutation } from "@/components/features/session/use-api";
import { AddressGroups } from "@/components/ui/address-groups";
import { Actor } from "@/components/features/names/actor";
import { RecipientName } from "@/components/features/names/recipient-name";
import { Amount } from "@/components/ui/amount";
import { ChainName } from "@/components/ui/chain-name";
import { Fact, Facts } from "@/components/ui/card";
import { approveOperation, getOperation, listOperations } from "@/lib/api-client/calls.gen";
import type { Operation } from "./types";

interface ApproveDialogProps {
  readonly operation: Operation;
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
}

export const ApproveDialog = ({ operation, open, onOpenChange }: ApproveDialogProps): ReactNode => {
  const params = { id: operation.operationId };
  const queryClient = useQueryClient();
  const approval = useApiMutation(approveOperation);
  const approve = async (proof: MoneyProof): Promise<void> => {
    const approved = await approval.mutateAsync({ params, body: proof });
    queryClient.setQueryData(queryKeyOf(getOperation, { params }), approved);
    void queryClient.invalidateQueries({ queryKey: queryKeyOf(listOperations) });
    toast.success("Approved. It runs now.");
    onOpenChange(false);
  };
  return (
    <ApprovalDialog
      open={open}
      onOpenChange={onOpenChange}
      title="Approve the operation"
      description="The price is checked again; it runs only if the minimum still arrives."
      subject={{ operationId: operation.operationId }}
      money="Nothing was sent."
      approval={approval}
      onApprove={approve}
    >
      <WhatWaits operation={operation} />
    </ApprovalDialog>
  );
};

const WhatWaits = ({ operation: { quoted, createdBy } }: { readonly operation: Operation }): ReactNode => (
  <Facts className="border-b">
    <Fact label="You send">
      <ul>
        {quoted.from.map((source, index) => (
          <li key={index}>
            <Amount value={source.amount} unit={source.token.symbol} exact /> on <ChainName chainId={source.chainId} />
          </li>
        ))}
      </ul>
    </Fact>
    <Fact label="Minimum received" strong>
      <Amount value={quoted.to.minAmount} unit={quoted.to.token.symbol} exact />
    </Fact>
    <Fact label="To">
      <RecipientName address={quoted.to.address} /> on <ChainName chainId={quoted.to.chainId} />
      <br />
      <AddressGroups value={quoted.to.address} />
    </Fact>
    <Fact label="Asked for by">
      <Actor id={createdBy} />
    </Fact>
  </Facts>
);
