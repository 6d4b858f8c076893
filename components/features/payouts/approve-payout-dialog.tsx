"use client";

import Link from "next/link";
import { useState, type ReactNode } from "react";
import { toast } from "sonner";
import { codeOf } from "@/components/features/money-flow/api-error";
import { CodeEntry } from "@/components/features/money-flow/code-entry";
import type { SentCode } from "@/components/features/money-flow/types";
import { useApiMutation } from "@/components/features/session/use-api";
import { useSentOnce } from "@/components/features/session/use-sent-once";
import { Amount } from "@/components/ui/amount";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { ErrorState } from "@/components/ui/error-state";
import { Fact, Facts } from "@/components/ui/sheet";
import { approvePayout } from "@/lib/contracts/payouts";
import { requestOtp } from "@/lib/contracts/swap";
import type { Payout } from "./payout";

const CODE_DIGITS = 6;
const FORM_ID = "approve-payout";
/** The code itself was not taken; another has to be typed. */
const REFUSED_CODE: ReadonlySet<string | null> = new Set(["otp_invalid", "otp_expired", "otp_attempts_exceeded"]);

const moneyAfter = (error: unknown): string =>
  codeOf(error) === "network_error"
    ? "Whether the code was accepted is not known. Approving again is safe: it is paid once."
    : "Nothing was paid.";

const SETTINGS_LINK = (
  <Link href="/settings#email" className="link">
    Verify an e-mail address in the settings
  </Link>
);

interface ApprovePayoutDialogProps {
  readonly payout: Payout;
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  readonly onApproved: (payout: Payout) => void;
}

const useApproval = ({ payout, onOpenChange, onApproved }: ApprovePayoutDialogProps) => {
  const { payoutId } = payout;
  const otp = useApiMutation(requestOtp);
  const { mutation: approval, send: sendApproval } = useSentOnce(approvePayout);
  const [sent, setSent] = useState<SentCode | null>(null);
  const [code, setCode] = useState("");
  const send = async (): Promise<void> => {
    approval.reset();
    const answer = await otp.mutateAsync({ body: { payoutId } }).catch(() => null);
    if (answer === null) return;
    setSent(answer);
    setCode("");
  };
  const approve = async (): Promise<void> => {
    if (code.length !== CODE_DIGITS) return;
    try {
      const approved = await sendApproval({ params: { id: payoutId }, body: { otp: code } });
      onOpenChange(false);
      onApproved(approved);
      toast.success("Approved. It is paid now.");
    } catch (error) {
      if (REFUSED_CODE.has(codeOf(error))) setCode("");
    }
  };
  return { otp, approval, sent, code, setCode, send, approve };
};

/** What waits, and the code that lets exactly this run. */
export const ApprovePayoutDialog = (props: ApprovePayoutDialogProps): ReactNode => {
  const { otp, approval, sent, code, setCode, send, approve } = useApproval(props);
  return (
    <Dialog
      open={props.open}
      onOpenChange={props.onOpenChange}
      title="Approve the payout"
      description="The code is good for exactly these rows, and for nothing else."
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
        <WhatWaits payout={props.payout} />
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
            money="Nothing was paid."
            {...(codeOf(otp.error) === "otp_channel_missing" ? { action: SETTINGS_LINK } : {})}
          />
        )}
        {approval.error === null ? null : (
          <ErrorState compact error={approval.error} money={moneyAfter(approval.error)} />
        )}
      </form>
    </Dialog>
  );
};

const WhatWaits = ({ payout }: { readonly payout: Payout }): ReactNode => (
  <Facts className="border-b">
    <Fact label="You pay" strong>
      <Amount value={payout.total} unit={payout.currency} />
    </Fact>
    <Fact label="To">{payout.items.total === 1 ? "1 row" : `${payout.items.total.toLocaleString("en")} rows`}</Fact>
    <Fact label="From">
      <code className="font-mono text-sm break-all">{payout.sourceAccountId}</code>
    </Fact>
    {payout.reference === null ? null : <Fact label="Reference">{payout.reference}</Fact>}
    <Fact label="Asked for by">
      <code className="font-mono text-sm break-all">{payout.createdBy}</code>
    </Fact>
  </Facts>
);
