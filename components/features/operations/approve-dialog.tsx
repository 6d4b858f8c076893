"use client";

import { useQueryClient } from "@tanstack/react-query";
import Link from "next/link";
import { useState, type ReactNode } from "react";
import { toast } from "sonner";
import { codeOf } from "@/components/features/money-flow/api-error";
import { CodeEntry } from "@/components/features/money-flow/code-entry";
import type { SentCode } from "@/components/features/money-flow/types";
import { queryKeyOf, useApiMutation } from "@/components/features/session/use-api";
import { AddressGroups } from "@/components/ui/address-groups";
import { Amount } from "@/components/ui/amount";
import { Button } from "@/components/ui/button";
import { ChainName } from "@/components/ui/chain-name";
import { Dialog } from "@/components/ui/dialog";
import { ErrorState } from "@/components/ui/error-state";
import { Fact, Facts } from "@/components/ui/sheet";
import { approveOperation, getOperation, listOperations } from "@/lib/contracts/operations";
import { requestOtp } from "@/lib/contracts/swap";
import type { Operation } from "./types";

const ALL_DIGITS = 18;
const CODE_DIGITS = 6;
const FORM_ID = "approve-operation";
/** The code itself was not taken; another has to be typed. */
const REFUSED_CODE: ReadonlySet<string | null> = new Set(["otp_invalid", "otp_expired", "otp_attempts_exceeded"]);

const SETTINGS_LINK = (
  <Link href="/settings#email" className="link">
    Verify an e-mail address in the settings
  </Link>
);

interface ApproveDialogProps {
  readonly operation: Operation;
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
}

const useApproval = ({ operation, onOpenChange }: ApproveDialogProps) => {
  const { operationId } = operation;
  const queryClient = useQueryClient();
  const otp = useApiMutation(requestOtp);
  const approval = useApiMutation(approveOperation);
  const [sent, setSent] = useState<SentCode | null>(null);
  const [code, setCode] = useState("");
  const send = async (): Promise<void> => {
    approval.reset();
    const answer = await otp.mutateAsync({ body: { operationId } }).catch(() => null);
    if (answer === null) return;
    setSent(answer);
    setCode("");
  };
  const approve = async (): Promise<void> => {
    if (code.length !== CODE_DIGITS) return;
    try {
      const approved = await approval.mutateAsync({ params: { id: operationId }, body: { otp: code } });
      queryClient.setQueryData(queryKeyOf(getOperation, { params: { id: operationId } }), approved);
      void queryClient.invalidateQueries({ queryKey: queryKeyOf(listOperations) });
      toast.success("Approved. It runs now.");
      onOpenChange(false);
    } catch (error) {
      if (REFUSED_CODE.has(codeOf(error))) setCode("");
    }
  };
  return { otp, approval, sent, code, setCode, send, approve };
};

/** What waits, whole, and the code that lets exactly this run. */
export const ApproveDialog = (props: ApproveDialogProps): ReactNode => {
  const { otp, approval, sent, code, setCode, send, approve } = useApproval(props);
  return (
    <Dialog
      open={props.open}
      onOpenChange={props.onOpenChange}
      title="Approve the operation"
      description="The price is checked again; it runs only if they still get at least what is promised."
      footer={
        <Button
          type="submit"
          form={FORM_ID}
          variant="primary"
          loading={approval.isPending}
          disabled={sent === null || code.length !== CODE_DIGITS}
        >
          Approve
        </Button>
      }
    >
      <form
        id={FORM_ID}
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          void approve();
        }}
      >
        <WhatWaits operation={props.operation} />
        {sent === null ? (
          <div>
            <Button variant="primary" loading={otp.isPending} onClick={() => void send()}>
              Send code
            </Button>
          </div>
        ) : (
          <CodeEntry
            sent={sent}
            code={code}
            onChange={setCode}
            onResend={() => void send()}
            sending={otp.isPending}
            disabled={approval.isPending}
          />
        )}
        {otp.error === null ? null : (
          <ErrorState
            compact
            error={otp.error}
            money="Nothing was sent."
            {...(codeOf(otp.error) === "otp_channel_missing" ? { action: SETTINGS_LINK } : {})}
          />
        )}
        {approval.error === null ? null : <ErrorState compact error={approval.error} money="Nothing was sent." />}
      </form>
    </Dialog>
  );
};

const WhatWaits = ({ operation: { quoted, createdBy } }: { readonly operation: Operation }): ReactNode => (
  <Facts className="border-b">
    <Fact label="You send">
      <ul>
        {quoted.from.map((source, index) => (
          <li key={index}>
            <Amount value={source.amount} unit={source.token.symbol} fractionMax={ALL_DIGITS} /> on{" "}
            <ChainName chainId={source.chainId} />
          </li>
        ))}
      </ul>
    </Fact>
    <Fact label="They get at least" strong>
      <Amount value={quoted.to.minAmount} unit={quoted.to.token.symbol} fractionMax={ALL_DIGITS} />
    </Fact>
    <Fact label="To">
      <AddressGroups value={quoted.to.address} />
      <br />
      on <ChainName chainId={quoted.to.chainId} />
    </Fact>
    <Fact label="Asked for by">
      <code className="font-mono text-sm break-all">{createdBy}</code>
    </Fact>
  </Facts>
);
