"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { Ban, CircleCheck, ClockAlert, Mail, UserPlus } from "lucide-react";
import Link from "next/link";
import { type ReactNode, useState } from "react";
import { useForm } from "react-hook-form";
import { useQuery } from "@tanstack/react-query";
import { z } from "zod";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { ChangeForm } from "@/components/features/approvals/approval-step";
import { useApprovable } from "@/components/features/approvals/use-approvable";
import { useReopen } from "@/components/features/approvals/kept-approval";
import { useMe } from "@/components/features/profile/use-me";
import { useMay, useProject } from "@/components/features/projects/use-project";
import { apiQuery } from "@/components/features/session/api-query";
import { useApi, useApiMutation, useCache } from "@/components/features/session/use-api";
import { Address } from "@/components/ui/address";
import { Alert } from "@/components/ui/alert";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { describeError } from "@/components/ui/describe-error";
import { TextField } from "@/components/ui/form";
import { PageHeader } from "@/components/ui/page-header";
import { RadioCards } from "@/components/ui/radio-cards";
import { QueryCard } from "@/components/ui/states";
import { type Column, RowName, Table } from "@/components/ui/table";
import { Time } from "@/components/ui/time";
import { toast } from "@/components/ui/toast";
import { listInvitations, withdrawInvitation } from "@/lib/api-client/calls.gen";
import type { BodyInput } from "@/lib/contracts/contract";
import { createInvitation } from "@/lib/contracts/members";
import type { Role } from "@/lib/core/actor";
import { RemoveDialog, RoleDialog } from "./member-dialogs";
import {
  type Invitation,
  type Member,
  memberName,
  roleName,
  rolesGivenBy,
  useMembers,
} from "./use-members";

interface Actions {
  readonly myId: string | undefined;
  readonly mayManage: boolean;
  readonly mayChange: (member: Member) => boolean;
  readonly onRole: (member: Member) => void;
  readonly onRemove: (member: Member) => void;
}

const columnsOf = ({
  myId,
  mayManage,
  mayChange,
  onRole,
  onRemove,
}: Actions): readonly Column<Member>[] => [
  {
    id: "person",
    header: "Person",
    phone: "title",
    cell: ({ id: userId, name, email, address }) => (
      <span className="flex min-w-0 items-center gap-x-2 gap-y-1 @max-[40rem]:flex-wrap">
        {name === null ? null : <RowName>{name}</RowName>}
        {email === null ? null : <RowName>{email}</RowName>}
        <Address value={address} />
        {userId === myId ? <Badge tone="neutral">You</Badge> : null}
      </span>
    ),
  },
  { id: "role", header: "Role", phone: "aside", cell: ({ role }) => roleName(role) },
  {
    id: "joined",
    header: "Joined",
    priority: "medium",
    cell: ({ joinedAt }) => <Time value={joinedAt} />,
  },
  {
    id: "actions",
    header: <span className="sr-only">Actions</span>,
    align: "right",
    cell: (member) => {
      const isMe = member.id === myId;
      return (
        <span className="flex justify-end gap-1">
          {mayManage && mayChange(member) ? (
            <Button
              size="sm"
              variant="ghost"
              aria-label={`Change the role of ${memberName(member)}`}
              onClick={() => onRole(member)}
            >
              Change role
            </Button>
          ) : null}
          {isMe || (mayManage && mayChange(member)) ? (
            <Button
              size="sm"
              variant="ghost"
              aria-label={isMe ? "Leave the project" : `Remove ${memberName(member)}`}
              onClick={() => onRemove(member)}
            >
              {isMe ? "Leave" : "Remove"}
            </Button>
          ) : null}
        </span>
      );
    },
  },
];

export const Members = (): ReactNode => {
  const query = useMembers();
  const { data } = query;
  const me = useMe().data;
  const { project } = useProject();
  const mayManage = useMay("members:manage");
  const [inviting, setInviting] = useState(false);
  const [changingId, setChangingId] = useState<string | null>(null);
  const [removingId, setRemovingId] = useState<string | null>(null);
  useReopen("member.invite", () => setInviting(true));
  useReopen("member.role ", setChangingId);
  useReopen("member.remove ", setRemovingId);
  const changing = data?.data.find(({ id }) => id === changingId) ?? null;
  const removing = data?.data.find(({ id }) => id === removingId) ?? null;
  const own = project?.role ?? "viewer";
  const columns = columnsOf({
    myId: me?.id,
    mayManage,
    mayChange: ({ role }) => own === "owner" || role !== "owner",
    onRole: ({ id }) => setChangingId(id),
    onRemove: ({ id }) => setRemovingId(id),
  });
  return (
    <>
      <PageHeader
        title="Members"
        description={
          project === undefined
            ? "People of this project and their roles."
            : `People of ${project.name} and their roles.`
        }
        actions={
          mayManage ? (
            <Button variant="primary" onClick={() => setInviting(true)}>
              <UserPlus aria-hidden /> Invite
            </Button>
          ) : null
        }
      />
      <div className="flex flex-col gap-4">
        <QueryCard title="Members" query={query} what="members" rows={2}>
          {(data) => (
            <Table
              caption="Members"
              columns={columns}
              rows={data.data}
              rowKey={({ id }) => id}
            />
          )}
        </QueryCard>
        {mayManage ? <InvitationsCard /> : null}
      </div>
      {inviting ? <InviteDialog onClose={() => setInviting(false)} own={own} /> : null}
      {changing === null ? null : (
        <RoleDialog member={changing} own={own} onClose={() => setChangingId(null)} />
      )}
      {removing === null ? null : (
        <RemoveDialog
          member={removing}
          isMe={removing.id === me?.id}
          onClose={() => setRemovingId(null)}
        />
      )}
    </>
  );
};

const STATUS = {
  open: { word: "Waiting", tone: "info", icon: Mail },
  accepted: { word: "Accepted", tone: "success", icon: CircleCheck },
  withdrawn: { word: "Withdrawn", tone: "neutral", icon: Ban },
  expired: { word: "Expired", tone: "warning", icon: ClockAlert },
} as const;

const invitationColumnsOf = (
  onWithdraw: (invitation: Invitation) => void,
): readonly Column<Invitation>[] => [
  {
    id: "email",
    header: "E-mail address",
    phone: "title",
    cell: ({ email }) => <span className="break-all">{email}</span>,
  },
  { id: "role", header: "Role", cell: ({ role }) => roleName(role) },
  {
    id: "status",
    header: "Status",
    cell: ({ status }) => (
      <Badge tone={STATUS[status].tone} icon={STATUS[status].icon}>
        {STATUS[status].word}
      </Badge>
    ),
  },
  {
    id: "expires",
    header: "Expires",
    cell: ({ status, expiresAt }) => (status === "open" ? <Time value={expiresAt} /> : "–"),
  },
  {
    id: "actions",
    header: <span className="sr-only">Actions</span>,
    align: "right",
    cell: (invitation) =>
      invitation.status === "open" ? (
        <Button
          size="sm"
          variant="ghost"
          aria-label={`Withdraw the invitation of ${invitation.email}`}
          onClick={() => onWithdraw(invitation)}
        >
          Withdraw
        </Button>
      ) : null,
  },
];

/** The open invitations, shown only to people who may manage members. */
const InvitationsCard = (): ReactNode => {
  const query = useQuery(apiQuery(listInvitations, {}));
  const { data } = query;
  const withdraw = useApiMutation(withdrawInvitation);
  const cache = useCache();
  const onWithdraw = async ({ id, email }: Invitation): Promise<void> => {
    try {
      await withdraw.mutateAsync({ params: { id } });
      toast.success(`The invitation of ${email} is withdrawn.`);
    } catch (failure) {
      toast.error(describeError(failure).message);
    }
    await cache.refresh(listInvitations);
  };
  if (data?.data.length === 0) return null;
  return (
    <QueryCard title="Invitations" query={query} what="invitations" rows={2}>
      {(data) => (
        <Table
          caption="Invitations"
          columns={invitationColumnsOf((invitation) => void onWithdraw(invitation))}
          rows={data.data}
          rowKey={({ id }) => id}
        />
      )}
    </QueryCard>
  );
};

interface InviteDialogProps {
  readonly onClose: () => void;
  readonly own: Role;
}

const inviteForm = z.object({
  email: z
    .string()
    .trim()
    .refine(
      (text) => createInvitation.body.shape.email.safeParse(text).success,
      "Enter an address such as name@example.com.",
    ),
});

const InviteDialog = ({ onClose, own }: InviteDialogProps): ReactNode => {
  const api = useApi();
  const cache = useCache();
  const me = useMe().data;
  const [role, setRole] = useState<string>("operator");
  const form = useForm({ resolver: zodResolver(inviteForm), defaultValues: { email: "" } });
  const invite = useApprovable<BodyInput<typeof createInvitation>>(
    "member.invite",
    async (body, proof) => {
      const { email } = await api.call(createInvitation, {
        body: { ...body, ...proof },
      });
      toast.success(`An invitation was mailed to ${email}.`);
      await cache.refresh(listInvitations);
      onClose();
    },
  );
  const email = form.watch("email").trim();
  return (
    <ChangeForm
      change={invite}
      onClose={onClose}
      title="Invite a person"
      description="The link in the mail is good for seven days, once, and for this address alone."
      size="lg"
      form={form}
      onSubmit={(values) => invite.start({ email: values.email, role: role as Role })}
      money="Nobody was invited."
      act="Send invitation"
      disabled={me?.emailVerified === false}
      snippet={
        <ApiSnippet
          call={createInvitation}
          auth="bearer"
          body={{ email: email === "" ? "ada@example.com" : email, role }}
        />
      }
    >
      {me?.emailVerified === false ? (
        <Alert tone="warning" title="You have no verified e-mail address">
          The invitation names yours, so that the person knows who invites.{" "}
          <Link href="/settings#email" className="link">
            Verify one in the settings
          </Link>{" "}
          first.
        </Alert>
      ) : null}
      <TextField
        control={form.control}
        name="email"
        label="E-mail address"
        input={{ type: "email", autoComplete: "off" }}
      />
      <RadioCards
        label="Role"
        value={role}
        onValueChange={setRole}
        options={rolesGivenBy(own)}
      />
    </ChangeForm>
  );
};
