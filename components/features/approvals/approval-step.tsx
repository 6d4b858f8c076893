"use client";

import Link from "next/link";
import { useState, type ReactNode } from "react";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { Countdown } from "@/components/ui/countdown";
import { ErrorState } from "@/components/ui/error-state";
import { RadioCards } from "@/components/ui/radio-cards";
import { useApiMutation } from "@/components/features/session/use-api";
import { requestOtp } from "@/lib/api-client/calls.gen";
import { AppApproval } from "./app-approval";
import { CodeApproval } from "./code-approval";
import { PasskeyApproval } from "./passkey-approval";
import type { AskedApproval, Approvable } from "./use-approvable";
import { CODE_MEANS, useFactorMeans } from "./use-factor-means";
import { WalletApproval } from "./wallet-approval";

interface ApprovalStepProps {
  readonly asked: AskedApproval;
  readonly change: Omit<Approvable<never>, "asked" | "start">;
}

const WALLET_MEANS = {
  value: "wallet",
  label: "Sign with your wallet",
  description: "The wallet that you sign in with signs the text above.",
};

/** Shows the whole change and the ways to approve it. It replaces the form that asked for the change. */
export const ApprovalStep = ({ asked, change }: ApprovalStepProps): ReactNode => {
  const { isRenewed, error, busy } = change;
  return (
    <div className="flex min-w-0 flex-col gap-4">
      {isRenewed ? (
        <Alert tone="warning" title="Approve once more">
          The earlier approval had expired, or something changed meanwhile. Check the text below again.
        </Alert>
      ) : null}
      <OneApproval key={asked.approvalId} asked={asked} change={change} />
      {error == null ? null : <ErrorState compact error={error} money="Nothing was changed." />}
      <div>
        <Button variant="ghost" disabled={busy} onClick={change.reset}>
          Back
        </Button>
      </div>
    </div>
  );
};

const OneApproval = ({ asked, change }: ApprovalStepProps): ReactNode => {
  const { busy } = change;
  const [means, setMeans] = useState("code");
  const options = [...useFactorMeans({ takesRecovery: true }), CODE_MEANS, WALLET_MEANS];
  const passkeyRequest = useApiMutation(requestOtp);
  const [isOver, setIsOver] = useState(false);
  return (
    <>
      <p className="flex flex-wrap items-baseline justify-between gap-x-4 text-fg-2">
        <span>This needs your approval, which is good for exactly this and nothing else.</span>
        <Countdown until={asked.expiresAt} label="Good for" expiredText="Expired" onExpire={() => setIsOver(true)} />
      </p>
      <pre
        tabIndex={0}
        role="region"
        aria-label="Change to approve"
        className="max-h-80 overflow-auto rounded-card border bg-sunken p-3 font-mono text-sm break-words whitespace-pre-wrap"
      >
        {asked.message}
      </pre>
      {isOver ? (
        <div>
          <Button variant="primary" loading={busy} onClick={() => void change.renew()}>
            Ask again
          </Button>
        </div>
      ) : (
        <>
          <RadioCards label="Approve by" value={means} onValueChange={setMeans} options={options} />
          {means === "passkey" ? (
            <PasskeyApproval
              ask={() => passkeyRequest.mutateAsync({ body: { approvalId: asked.approvalId, channel: "passkey" } })}
              busy={busy}
              onApprove={change.approve}
            />
          ) : means === "app" ? (
            <AppApproval busy={busy} onApprove={change.approve} />
          ) : means === "code" ? (
            <CodeApproval
              approvalId={asked.approvalId}
              busy={busy}
              onApprove={change.approve}
              missing={SETTINGS_LINK}
            />
          ) : (
            <WalletApproval message={asked.message} busy={busy} onApprove={change.approve} />
          )}
        </>
      )}
    </>
  );
};

const SETTINGS_LINK = (
  <span>
    Sign with your wallet instead, or{" "}
    <Link href="/settings#email" className="link">
      verify an e-mail address in the settings
    </Link>
    .
  </span>
);
