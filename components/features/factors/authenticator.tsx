"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { type ReactNode, useState } from "react";
import { useForm } from "react-hook-form";
import { ApprovalStep } from "@/components/features/approvals/approval-step";
import { useApprovable } from "@/components/features/approvals/use-approvable";
import { codeForm } from "@/components/features/money-flow/code-form";
import { useApi, useApiMutation, useCache } from "@/components/features/session/use-api";
import { Alert } from "@/components/ui/alert";
import { Badge } from "@/components/ui/badge";
import { Button, CopyButton } from "@/components/ui/button";
import { ActionError } from "@/components/ui/states";
import { ControlField, Form } from "@/components/ui/form";
import { OtpInput } from "@/components/ui/otp-input";
import { Time } from "@/components/ui/time";
import { toast } from "@/components/ui/toast";
import {
  confirmTotp,
  getFactors,
  removeTotp,
  renewRecoveryCodes,
  startTotp,
} from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";
import { QrCode } from "./qr-code";

type Factors = ResponseOf<typeof getFactors>;

type NewTotp = ResponseOf<typeof startTotp>;

export const Authenticator = ({ factors }: { readonly factors: Factors }): ReactNode => {
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const stepOf = (): ReactNode => {
    if (codes !== null) return <RecoveryCodes codes={codes} onDone={() => setCodes(null)} />;
    if (factors.totp === null) return <Enrol onCodes={setCodes} />;
    return (
      <Enrolled
        since={factors.totp.since}
        left={factors.recoveryCodesLeft}
        onCodes={setCodes}
      />
    );
  };
  return (
    <section aria-label="Authenticator app" className="flex flex-col gap-3 p-4">
      <h3 className="flex items-center gap-2 font-semibold">
        Authenticator app {factors.totp === null ? null : <Badge tone="success">On</Badge>}
      </h3>
      {stepOf()}
    </section>
  );
};

const RecoveryCodes = ({
  codes,
  onDone,
}: {
  readonly codes: readonly string[];
  readonly onDone: () => void;
}) => (
  <div className="flex flex-col gap-3">
    <Alert tone="warning" title="Keep these ten recovery codes">
      Each is good once when you do not have the app. They are not shown again.
    </Alert>
    <ul
      aria-label="Recovery codes"
      className="grid grid-cols-1 gap-1 rounded-card border bg-sunken p-3 font-mono text-sm sm:grid-cols-2"
    >
      {codes.map((code) => (
        <li key={code}>{code}</li>
      ))}
    </ul>
    <div className="flex flex-wrap gap-2">
      <CopyButton value={codes.join("\n")} label="Copy the codes" />
      <Button variant="primary" onClick={onDone}>
        I have kept them
      </Button>
    </div>
  </div>
);

const Enrol = ({
  onCodes,
}: {
  readonly onCodes: (codes: readonly string[]) => void;
}): ReactNode => {
  const [made, setMade] = useState<NewTotp | null>(null);
  const api = useApi();
  const start = useApprovable<null>("totp.add", async (_none, proof) => {
    setMade(await api.call(startTotp, { body: proof }));
  });
  if (start.asked !== null) return <ApprovalStep asked={start.asked} change={start} />;
  if (made !== null)
    return <Confirm made={made} onCodes={onCodes} onBack={() => setMade(null)} />;
  return (
    <div className="flex flex-col gap-3">
      <p className="text-fg-2">
        Codes of an app on your phone approve what mailed codes approve.
      </p>
      <div>
        <Button loading={start.busy} onClick={() => void start.start(null)}>
          Set up an authenticator app
        </Button>
      </div>
      <ActionError error={start.error} />
    </div>
  );
};

interface ConfirmProps {
  readonly made: NewTotp;
  readonly onCodes: (codes: readonly string[]) => void;
  readonly onBack: () => void;
}

const Confirm = ({ made, onCodes, onBack }: ConfirmProps): ReactNode => {
  const form = useForm({ resolver: zodResolver(codeForm), defaultValues: { code: "" } });
  const confirm = useApiMutation(confirmTotp);
  const cache = useCache();
  const submit = async ({ code }: { readonly code: string }): Promise<void> => {
    try {
      const { recoveryCodes } = await confirm.mutateAsync({ body: { code } });
      onCodes(recoveryCodes);
    } catch {
      form.reset({ code: "" });
      return;
    }
    await cache.refresh(getFactors);
  };
  return (
    <Form form={form} onSubmit={submit} className="flex flex-col gap-3">
      <p>Scan this with the app, or type the key. Then enter the code that the app shows.</p>
      <QrCode text={made.uri} label="QR code for the authenticator app" />
      <p className="flex flex-wrap items-center gap-2">
        <span className="text-fg-2">Key</span>
        <code className="font-mono text-sm break-all" data-testid="totp-secret">
          {made.secret}
        </code>
        <CopyButton value={made.secret} label="Copy the key" />
      </p>
      <ControlField control={form.control} name="code" label="Code of the app">
        {({ value, onValueChange }) => (
          <OtpInput value={value} onChange={onValueChange} disabled={confirm.isPending} />
        )}
      </ControlField>
      <ActionError error={confirm.error} />
      <div className="flex gap-2">
        <Button
          type="submit"
          variant="primary"
          loading={confirm.isPending}
          disabled={!codeForm.safeParse(form.watch()).success}
        >
          Confirm
        </Button>
        <Button variant="ghost" onClick={onBack}>
          Back
        </Button>
      </div>
    </Form>
  );
};

interface EnrolledProps {
  readonly since: string;
  readonly left: number;
  readonly onCodes: (codes: readonly string[]) => void;
}

const Enrolled = ({ since, left, onCodes }: EnrolledProps): ReactNode => {
  const api = useApi();
  const cache = useCache();
  const renew = useApprovable<null>("recovery_codes", async (_none, proof) => {
    const { recoveryCodes } = await api.call(renewRecoveryCodes, { body: proof });
    onCodes(recoveryCodes);
    await cache.refresh(getFactors);
  });
  const remove = useApprovable<null>("totp.remove", async (_none, proof) => {
    await api.call(removeTotp, { body: proof });
    await cache.refresh(getFactors);
    toast.success("The authenticator app was removed.");
  });
  if (renew.asked !== null) return <ApprovalStep asked={renew.asked} change={renew} />;
  if (remove.asked !== null) return <ApprovalStep asked={remove.asked} change={remove} />;
  const error = renew.error ?? remove.error;
  return (
    <div className="flex flex-col gap-3">
      <p className="text-fg-2">
        On since <Time value={since} />. Recovery codes left: {left} of 10.
      </p>
      <div className="flex flex-wrap gap-2">
        <Button size="sm" loading={renew.busy} onClick={() => void renew.start(null)}>
          New recovery codes
        </Button>
        <Button size="sm" loading={remove.busy} onClick={() => void remove.start(null)}>
          Remove the app
        </Button>
      </div>
      <ActionError error={error} />
    </div>
  );
};
