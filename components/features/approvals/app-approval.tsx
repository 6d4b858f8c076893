"use client";

import { useState, type ReactNode } from "react";
import { Button } from "@/components/ui/button";
import { Field, Input } from "@/components/ui/field";
import { OtpInput } from "@/components/ui/otp-input";
import type { Means } from "./use-approvable";

interface AppApprovalProps {
  readonly busy: boolean;
  readonly onApprove: (means: Means) => Promise<boolean>;
}

/** Takes a code of the authenticator app, or a recovery code in its place. */
export const AppApproval = ({ busy, onApprove }: AppApprovalProps): ReactNode => {
  const [code, setCode] = useState("");
  const [byRecovery, setByRecovery] = useState(false);
  const approve = async (): Promise<void> => {
    const given = code.trim();
    if (!(await onApprove(byRecovery ? { recoveryCode: given } : { totp: given }))) setCode("");
  };
  const swap = (): void => {
    setCode("");
    setByRecovery(!byRecovery);
  };
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        void approve();
      }}
    >
      {byRecovery ? (
        <Field label="Recovery code" hint="Each code is good once.">
          <Input value={code} onChange={(event) => setCode(event.target.value)} autoComplete="off" autoFocus />
        </Field>
      ) : (
        <Field label="Code of the authenticator app">
          <OtpInput value={code} onChange={setCode} disabled={busy} autoFocus />
        </Field>
      )}
      <div className="flex flex-wrap gap-2">
        <Button
          type="submit"
          variant="primary"
          loading={busy}
          disabled={byRecovery ? code.trim() === "" : code.length < 6}
        >
          Approve
        </Button>
        <Button variant="ghost" onClick={swap}>
          {byRecovery ? "Use the app" : "Use a recovery code"}
        </Button>
      </div>
    </form>
  );
};
