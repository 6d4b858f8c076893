"use client";

import { useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { toast } from "@/components/ui/toast";
import { ApprovalStep } from "@/components/features/approvals/approval-step";
import { useApprovable } from "@/components/features/approvals/use-approvable";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApi } from "@/components/features/session/use-api";
import { shorten } from "@/components/ui/address";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { ErrorState } from "@/components/ui/error-state";
import { RadioCards } from "@/components/ui/radio-cards";
import { getMe, listMembers, updateMember } from "@/lib/api-client/calls.gen";
import type { Role } from "@/lib/core/actor";
import { roleMay } from "@/lib/core/permissions";
import { roleName, rolesGivenBy, type Member } from "./roles";

interface RoleDialogProps {
  readonly member: Member | null;
  readonly own: Role;
  readonly onClose: () => void;
}

export const RoleDialog = ({ member, own, onClose }: RoleDialogProps): ReactNode =>
  member === null ? null : (
    <Dialog
      open
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
      title={`Role of ${member.email ?? shorten(member.address)}`}
      description="A new role counts within a second. A role that may do more needs your approval."
      size="lg"
    >
      <RoleForm member={member} own={own} onDone={onClose} />
    </Dialog>
  );

const mayManageKeys = (role: string): boolean => roleMay(role as Role, "keys:manage");

const RoleForm = ({
  member,
  own,
  onDone,
}: {
  readonly member: Member;
  readonly own: Role;
  readonly onDone: () => void;
}): ReactNode => {
  const api = useApi();
  const queryClient = useQueryClient();
  const [role, setRole] = useState<string>(member.role);
  const change = useApprovable<Role>(`member.role ${member.userId}`, async (wanted, approval) => {
    const body = { role: wanted, ...(approval ? { approval } : {}) };
    await api.call(updateMember, { params: { id: member.userId }, body });
    toast.success(`The role is ${roleName(wanted)} now.`);
    await queryClient.invalidateQueries({ queryKey: queryKeyOf(listMembers) });
    await queryClient.invalidateQueries({ queryKey: queryKeyOf(getMe) });
    onDone();
  });
  if (change.asked !== null) return <ApprovalStep asked={change.asked} change={change} />;
  return (
    <div className="flex flex-col gap-4">
      <RadioCards label="Role" value={role} onValueChange={setRole} options={rolesGivenBy(own)} />
      {mayManageKeys(member.role) && !mayManageKeys(role) ? (
        <Alert tone="warning" title="API keys that this person made stop working">
          They are revoked at once, and so are open invitations by this person. Make new keys first where programs use
          them.
        </Alert>
      ) : null}
      {change.error == null ? null : <ErrorState compact error={change.error} money="The role is as it was." />}
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>Cancel</Button>
        <Button
          variant="primary"
          loading={change.busy}
          disabled={role === member.role}
          onClick={() => void change.start(role as Role)}
        >
          Change role
        </Button>
      </div>
    </div>
  );
};
