"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { useForm } from "react-hook-form";
import { toast } from "@/components/ui/toast";
import { z } from "zod";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { ApprovalStep } from "@/components/features/approvals/approval-step";
import { useApprovable } from "@/components/features/approvals/use-approvable";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApi } from "@/components/features/session/use-api";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { Form, FormError, TextField } from "@/components/ui/form";
import { RadioCards } from "@/components/ui/radio-cards";
import { listInvitations } from "@/lib/api-client/calls.gen";
import { createInvitation } from "@/lib/contracts/members";
import type { BodyInput } from "@/lib/contracts/contract";
import type { Role } from "@/lib/core/actor";
import { rolesGivenBy } from "./roles";

interface InviteDialogProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  /** Of the person who invites. */
  readonly own: Role;
}

export const InviteDialog = ({ open, onOpenChange, own }: InviteDialogProps): ReactNode => (
  <Dialog
    open={open}
    onOpenChange={onOpenChange}
    title="Invite a person"
    description="The link in the mail is good for seven days, once, and for this address alone."
    size="lg"
  >
    <InviteForm own={own} onDone={() => onOpenChange(false)} />
  </Dialog>
);

const inviteForm = z.object({
  email: z
    .string()
    .trim()
    .refine(
      (text) => createInvitation.body.shape.email.safeParse(text).success,
      "Enter an address such as name@example.com.",
    ),
});

const InviteForm = ({ own, onDone }: { readonly own: Role; readonly onDone: () => void }): ReactNode => {
  const api = useApi();
  const queryClient = useQueryClient();
  const [role, setRole] = useState<string>("operator");
  const form = useForm({ resolver: zodResolver(inviteForm), defaultValues: { email: "" } });
  const invite = useApprovable<BodyInput<typeof createInvitation>>("member.invite", async (body, approval) => {
    const { email } = await api.call(createInvitation, { body: { ...body, ...(approval ? { approval } : {}) } });
    toast.success(`An invitation was mailed to ${email}.`);
    await queryClient.invalidateQueries({ queryKey: queryKeyOf(listInvitations) });
    onDone();
  });
  if (invite.asked !== null) return <ApprovalStep asked={invite.asked} change={invite} />;
  const email = form.watch("email").trim();
  return (
    <Form
      form={form}
      error={invite.error}
      onSubmit={(values) => invite.start({ email: values.email, role: role as Role })}
      className="flex flex-col gap-4"
    >
      <TextField
        control={form.control}
        name="email"
        label="E-mail address"
        input={{ type: "email", autoComplete: "off" }}
      />
      <RadioCards label="Role" value={role} onValueChange={setRole} options={rolesGivenBy(own)} />
      <FormError money="Nobody was invited." />
      <ApiSnippet
        method="POST"
        path="/invitations"
        auth="bearer"
        body={{ email: email === "" ? "ada@example.com" : email, role }}
      />
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" variant="primary" loading={invite.busy}>
          Send invitation
        </Button>
      </div>
    </Form>
  );
};
