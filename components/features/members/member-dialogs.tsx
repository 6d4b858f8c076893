"use client";

import { type ReactNode, useState } from "react";
import { useQuery } from "@tanstack/react-query";
import { ConfirmChangeDialog } from "@/components/features/approvals/approval-step";
import { useApprovable } from "@/components/features/approvals/use-approvable";
import { chooseProject } from "@/components/features/projects/use-project";
import { apiQuery } from "@/components/features/session/api-query";
import { useApi, useCache } from "@/components/features/session/use-api";
import { Alert } from "@/components/ui/alert";
import { RadioCards } from "@/components/ui/radio-cards";
import { QueryContent } from "@/components/ui/states";
import { toast } from "@/components/ui/toast";
import {
  getMe,
  getMemberRemoval,
  listMembers,
  removeMember,
  updateMember,
} from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";
import type { Role } from "@/lib/core/actor";
import { roleMay } from "@/lib/core/permissions";
import { type Member, memberName, roleName, rolesGivenBy } from "./use-members";

interface RoleDialogProps {
  readonly member: Member;
  readonly own: Role;
  readonly onClose: () => void;
}

const PERMISSIONS = ["keys:manage", "webhooks:manage", "members:manage", "money:move"] as const;

/**
 * Whether the new role lacks a permission of `PERMISSIONS` that the old role has. Keys, endpoints
 * or invitations that depend on this permission then stop.
 */
const mayLess = (before: Role, after: string): boolean =>
  PERMISSIONS.some(
    (permission) => roleMay(before, permission) && !roleMay(after as Role, permission),
  );

export const RoleDialog = ({ member, own, onClose }: RoleDialogProps): ReactNode => {
  const api = useApi();
  const cache = useCache();
  const [role, setRole] = useState<string>(member.role);
  const change = useApprovable<Role>(`member.role ${member.id}`, async (wanted, proof) => {
    const body = { role: wanted, ...proof };
    await api.call(updateMember, { params: { id: member.id }, body });
    toast.success(`The role is ${roleName(wanted)} now.`);
    await cache.refresh(listMembers, getMe);
    onClose();
  });
  return (
    <ConfirmChangeDialog
      change={change}
      onClose={onClose}
      title={`Role of ${memberName(member)}`}
      description="A new role counts within a second. A role that may do more, or a lower one for an owner or admin, needs your approval."
      size="lg"
      input={role as Role}
      money="The role is as it was."
      act="Change role"
      disabled={role === member.role}
    >
      <RadioCards
        label="Role"
        value={role}
        onValueChange={setRole}
        options={rolesGivenBy(own)}
      />
      {mayLess(member.role, role) ? (
        <Alert tone="warning" title="What this person made stops working">
          <p>Create new keys and endpoints first where programs use them.</p>
          <EndingList userId={member.id} role={role as Role} />
        </Alert>
      ) : null}
    </ConfirmChangeDialog>
  );
};

interface RemoveDialogProps {
  readonly member: Member;
  readonly isMe: boolean;
  readonly onClose: () => void;
}

/**
 * Lists everything that stops, and removes the member. Removing an owner or admin needs an
 * approval.
 */
export const RemoveDialog = ({ member, isMe, onClose }: RemoveDialogProps): ReactNode => {
  const api = useApi();
  const cache = useCache();
  const remove = useApprovable<null>(`member.remove ${member.id}`, async (_, proof) => {
    await api.call(removeMember, { params: { id: member.id }, body: proof });
    onClose();
    if (isMe) {
      chooseProject(null);
      return;
    }
    toast.success(`${memberName(member)} is not a member any more.`);
    await cache.refresh(listMembers);
  });
  return (
    <ConfirmChangeDialog
      change={remove}
      onClose={onClose}
      title={isMe ? "Leave the project?" : `Remove ${memberName(member)}?`}
      description={`${isMe ? "You have" : "The person has"} no access after a second. Operations that run go on.`}
      size="lg"
      input={null}
      money="Nobody was removed."
      act={isMe ? "Leave project" : "Remove member"}
      tone="danger"
    >
      <EndingList userId={member.id} />
    </ConfirmChangeDialog>
  );
};

type Removal = ResponseOf<typeof getMemberRemoval>;

interface Group {
  readonly title: string;
  readonly names: readonly string[];
}

const groupsOf = ({
  apiKeys,
  webhookEndpoints,
  invitations,
  payoutSchedules,
}: Removal): Group[] =>
  [
    {
      title: "API keys that are revoked",
      names: apiKeys.map(({ name, last4 }) => `${name} (…${last4})`),
    },
    {
      title: "Webhook endpoints that are disabled",
      names: webhookEndpoints.map(({ url, description }) =>
        description === null ? url : `${description} (${url})`,
      ),
    },
    {
      title: "Invitations that are withdrawn",
      names: invitations.map(({ email, role }) => `${email} as ${role}`),
    },
    {
      title: "Payout schedules that are cancelled",
      names: payoutSchedules.map(
        ({ id, reference, rows }) => `${reference ?? id}, ${String(rows)} payments`,
      ),
    },
  ].filter(({ names }) => names.length > 0);

interface EndingListProps {
  readonly userId: string;
  /** The person's new role; undefined when the person leaves the project. */
  readonly role?: Role;
}

/**
 * The names of keys, endpoints, invitations and schedules that stop when a person leaves or gets a
 * lower role.
 */
const EndingList = ({ userId, role }: EndingListProps): ReactNode => {
  const query = role === undefined ? {} : { role };
  const ending = useQuery(apiQuery(getMemberRemoval, { params: { id: userId }, query }));
  return (
    <QueryContent query={ending} what="what stops" rows={1} compact>
      {(data) => <EndingGroups groups={groupsOf(data)} />}
    </QueryContent>
  );
};

const EndingGroups = ({
  groups,
}: {
  readonly groups: ReturnType<typeof groupsOf>;
}): ReactNode => {
  if (groups.length === 0)
    return <p className="text-fg-2">Nothing that this person made stops.</p>;
  return (
    <div
      className="flex max-h-64 flex-col gap-2 overflow-auto"
      tabIndex={0}
      role="region"
      aria-label="What stops"
    >
      {groups.map(({ title, names }) => (
        <div key={title}>
          <p className="font-medium">{title}</p>
          <ul aria-label={title} className="list-disc pl-5 text-fg-2">
            {names.map((name) => (
              <li key={name} className="break-all">
                {name}
              </li>
            ))}
          </ul>
        </div>
      ))}
    </div>
  );
};
