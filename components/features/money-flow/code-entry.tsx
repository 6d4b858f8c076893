"use client";

import { useState, type ReactNode } from "react";
import { DevCodeHint } from "@/components/features/dev-mail/dev-code-hint";
import { Button } from "@/components/ui/button";
import { Countdown } from "@/components/ui/countdown";
import { Field } from "@/components/ui/field";
import { OtpInput } from "@/components/ui/otp-input";
import type { SentCode } from "./types";

interface CodeEntryProps {
  readonly sent: SentCode;
  readonly code: string;
  readonly onChange: (code: string) => void;
  readonly onResend: () => void;
  /** A new code is on its way. */
  readonly sending: boolean;
  readonly disabled: boolean;
}

/** Takes a one-time code that was sent; says where to, how long it is good, and when another may be had. */
export const CodeEntry = ({ sent, code, onChange, onResend, sending, disabled }: CodeEntryProps): ReactNode => (
  <>
    <p>
      A code was sent {sent.channel === "email" ? "by e-mail " : ""}to <strong>{sent.destination}</strong>.{" "}
      <Countdown until={sent.expiresAt} label="It expires in" expiredText="It has expired." className="text-fg-2" />
    </p>
    <DevCodeHint />
    <Field label="One-time code">
      <OtpInput value={code} onChange={onChange} disabled={disabled} autoFocus />
    </Field>
    <ResendButton key={sent.otpId} sent={sent} onResend={onResend} sending={sending} />
  </>
);

const ResendButton = ({
  sent,
  onResend,
  sending,
}: Pick<CodeEntryProps, "sent" | "onResend" | "sending">): ReactNode => {
  const [ready, setReady] = useState(false);
  return (
    <div>
      <Button size="sm" disabled={!ready} loading={sending} onClick={onResend}>
        {ready ? (
          "Send a new code"
        ) : (
          <Countdown
            until={sent.resendAfter}
            label="New code in"
            expiredText="Send a new code"
            onExpire={() => setReady(true)}
          />
        )}
      </Button>
    </div>
  );
};
