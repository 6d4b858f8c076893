"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { useState, type ReactNode } from "react";
import { useForm } from "react-hook-form";
import { z } from "zod";
import { ApprovalStep } from "@/components/features/approvals/approval-step";
import { useApprovable } from "@/components/features/approvals/use-approvable";
import { DevCodeHint } from "@/components/features/dev-mail/dev-code-hint";
import { useApi, useApiMutation, useCache } from "@/components/features/session/use-api";
import { Alert } from "@/components/ui/alert";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { Field } from "@/components/ui/field";
import { Form, TextField } from "@/components/ui/form";
import { OtpInput } from "@/components/ui/otp-input";
import { ActionError, ErrorState } from "@/components/ui/states";
import { Countdown, Time } from "@/components/ui/time";
import { toast } from "@/components/ui/toast";
import { getMe, verifyEmail } from "@/lib/api-client/calls.gen";
import { updateMe } from "@/lib/contracts/auth";
import type { ResponseOf } from "@/lib/contracts/contract";
import type { Me } from "./use-me";

type Verification = NonNullable<ResponseOf<typeof updateMe>["verification"]>;

interface EmailCardProps {
  readonly me: Me;
  /** Initial address of the form, such as the address of an invitation. */
  readonly suggested?: string;
}

/**
 * The form for the e-mail address that receives codes, and for the code that verifies this address.
 */
export const EmailCard = ({ me, suggested }: EmailCardProps): ReactNode => {
  const [sent, setSent] = useState<{ email: string; verification: Verification } | null>(null);
  const [changing, setChanging] = useState(false);
  // False after a reload, so that a restored approval waits for the person's click.
  const [signsAtOnce, setSignsAtOnce] = useState(false);
  const api = useApi();
  const update = useApprovable<string>("email", async (email, proof) => {
    const { verification } = await api.call(updateMe, { body: { email, ...proof } });
    if (verification !== null) setSent({ email, verification });
  });
  const finish = (): void => {
    setSent(null);
    setChanging(false);
  };
  const stepOf = (): ReactNode => {
    if (update.asked !== null)
      return <ApprovalStep asked={update.asked} change={update} signsAtOnce={signsAtOnce} />;
    if (sent !== null)
      return (
        <CodeForm
          key={sent.verification.expiresAt}
          sent={sent}
          onVerified={finish}
          onBack={() => setSent(null)}
          resend={() => update.start(sent.email)}
        />
      );
    if (me.emailVerified && !changing && suggested === undefined)
      return <VerifiedAddress me={me} onChange={() => setChanging(true)} />;
    return (
      <AddressForm
        email={suggested ?? me.email ?? ""}
        isFirst={!me.emailVerified}
        onSend={(email) => {
          setSignsAtOnce(true);
          return update.start(email);
        }}
        onCancel={changing ? () => setChanging(false) : undefined}
      />
    );
  };
  return (
    <Card
      id="email"
      title="E-mail"
      description="Codes that approve payments go to this address."
      actions={
        me.emailVerified ? (
          <Badge tone="success">Verified</Badge>
        ) : (
          <Badge tone="warning">Not verified</Badge>
        )
      }
    >
      {stepOf()}
      {update.error == null || update.asked !== null ? null : (
        <div className="pt-3">
          <ErrorState compact error={update.error} />
        </div>
      )}
    </Card>
  );
};

interface VerifiedAddressProps {
  readonly me: Me;
  readonly onChange: () => void;
}

const VerifiedAddress = ({ me, onChange }: VerifiedAddressProps): ReactNode => {
  const [nowMs] = useState(() => Date.now());
  return (
    <div className="flex flex-wrap items-center justify-between gap-2">
      <span>{me.email}</span>
      {me.emailHeldUntil === null || Date.parse(me.emailHeldUntil) <= nowMs ? null : (
        <span className="text-warning">
          Set with a recovery code. Codes go there from <Time value={me.emailHeldUntil} /> on.
        </span>
      )}
      <Button size="sm" onClick={onChange}>
        Change
      </Button>
    </div>
  );
};

interface AddressFormProps {
  readonly email: string;
  readonly isFirst: boolean;
  readonly onSend: (email: string) => Promise<void>;
  readonly onCancel?: () => void;
}

const addressForm = z.object({
  email: z
    .string()
    .trim()
    .refine(
      (text) => updateMe.body.shape.email.safeParse(text).success,
      "Type an address such as name@example.com.",
    ),
});

const FIRST_HINT =
  "Codes that go there approve payments, so the wallet you sign in with signs the address first. No transaction is sent.";

const AddressForm = ({ email, isFirst, onSend, onCancel }: AddressFormProps): ReactNode => {
  const form = useForm({ resolver: zodResolver(addressForm), defaultValues: { email } });
  // The form gets no error of the service, because `EmailCard` shows it below the form.
  return (
    <Form
      form={form}
      onSubmit={(values) => onSend(values.email)}
      className="flex flex-wrap items-start gap-3"
    >
      <TextField
        control={form.control}
        name="email"
        label="E-mail address"
        className="min-w-60 flex-1"
        input={{ type: "email", autoComplete: "email" }}
        hint={isFirst ? FIRST_HINT : undefined}
      />
      <div className="flex gap-2 pt-[22px]">
        <Button type="submit" variant="primary" loading={form.formState.isSubmitting}>
          {isFirst ? "Sign and send a code" : "Send a code"}
        </Button>
        {onCancel === undefined ? null : <Button onClick={onCancel}>Cancel</Button>}
      </div>
    </Form>
  );
};

interface CodeFormProps {
  readonly sent: { readonly email: string; readonly verification: Verification };
  readonly onVerified: () => void;
  readonly onBack: () => void;
  readonly resend: () => Promise<void>;
}

const CodeForm = ({ sent, onVerified, onBack, resend }: CodeFormProps): ReactNode => {
  const [code, setCode] = useState("");
  const [mayResend, setMayResend] = useState(false);
  const verify = useApiMutation(verifyEmail);
  const cache = useCache();
  const submit = async (full: string): Promise<void> => {
    try {
      await verify.mutateAsync({ body: { code: full } });
    } catch {
      setCode("");
      return;
    }
    await cache.refresh(getMe);
    toast.success("The e-mail address is verified.");
    onVerified();
  };
  return (
    <div className="flex flex-col gap-3">
      <Alert tone="info">
        A code was sent to {sent.verification.destination}.{" "}
        <Countdown until={sent.verification.expiresAt} label="It expires in" />
      </Alert>
      <DevCodeHint />
      <Field label="Code of six digits">
        <OtpInput
          value={code}
          onChange={setCode}
          onComplete={(full) => void submit(full)}
          disabled={verify.isPending}
          autoFocus
        />
      </Field>
      <ActionError error={verify.error} />
      <div className="flex flex-wrap items-center gap-2">
        <Button
          variant="primary"
          loading={verify.isPending}
          disabled={code.length < 6}
          onClick={() => void submit(code)}
        >
          Verify
        </Button>
        <Button
          disabled={!mayResend}
          onClick={() => {
            setMayResend(false);
            void resend();
          }}
        >
          {mayResend ? (
            "Send a new code"
          ) : (
            <Countdown
              until={sent.verification.resendAfter}
              label="New code in"
              expiredText="…"
              onExpire={() => setMayResend(true)}
            />
          )}
        </Button>
        <Button variant="ghost" onClick={onBack}>
          Other address
        </Button>
      </div>
    </div>
  );
};
