"use client";

import { UserPlus } from "lucide-react";
import { useState, type ReactNode } from "react";
import { useReopen } from "@/components/features/approvals/use-reopen";
import { useMe } from "@/components/features/profile/use-me";
import { useMay, useProject } from "@/components/features/projects/use-project";
import { useApiQuery } from "@/components/features/session/use-api";
import { Address } from "@/components/ui/address";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { ErrorState } from "@/components/ui/error-state";
import { PageHeader } from "@/components/ui/page-header";
import { LoadingRows } from "@/components/ui/skeleton";
import { Table, type Column } from "@/components/ui/table";
import { Time } from "@/components/ui/time";
import { listMembers } from "@/lib/api-client/calls.gen";
import { InvitationsCard } from "./invitations-card";
import { InviteDialog } from "./invite-dialog";
import { RemoveDialog } from "./remove-dialog";
import { RoleDialog } from "./role-dialog";
import { roleName, type Member } from "./roles";

interface Actions {
  readonly myId: string | undefined;
  readonly mayManage: boolean;
  /** Whether the person may change this member. */
  readonly mayChange: (member: Member) => boolean;
  readonly onRole: (member: Member) => void;
  readonly onRemove: (member: Member) => void;
}

const nameOf = ({ email, address }: Member): string => email ?? address;

const columnsOf = ({ myId, mayManage, mayChange, onRole, onRemove }: Actions): readonly Column<Member>[] => [
  {
    id: "person",
    header: "Person",
    phone: "title",
    cell: ({ userId, email, address }) => (
      <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
        {email === null ? null : <span className="font-medium break-all">{email}</span>}
        <Address value={address} />
        {userId === myId ? <Badge tone="neutral">You</Badge> : null}
      </span>
    ),
  },
  { id: "role", header: "Role", phone: "aside", cell: ({ role }) => roleName(role) },
  { id: "joined", header: "Joined", priority: "medium", cell: ({ joinedAt }) => <Time value={joinedAt} /> },
  {
    id: "actions",
    header: <span className="sr-only">Actions</span>,
    align: "right",
    cell: (member) => {
      const isMe = member.userId === myId;
      return (
        <span className="flex justify-end gap-1">
          {mayManage && mayChange(member) ? (
            <Button
              size="sm"
              variant="ghost"
              aria-label={`Change the role of ${nameOf(member)}`}
              onClick={() => onRole(member)}
            >
              Change role
            </Button>
          ) : null}
          {isMe || (mayManage && mayChange(member)) ? (
            <Button
              size="sm"
              variant="ghost"
              aria-label={isMe ? "Leave the project" : `Remove ${nameOf(member)}`}
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

/** The people of the project: who may do what, and who is invited. */
export const Members = (): ReactNode => {
  const { data, error, isPending, refetch } = useApiQuery(listMembers, {});
  const me = useMe().data;
  const { project } = useProject();
  const mayManage = useMay("members:manage");
  const [inviting, setInviting] = useState(false);
  const [changingId, setChangingId] = useState<string | null>(null);
  const [removing, setRemoving] = useState<Member | null>(null);
  useReopen("member.invite", () => setInviting(true));
  useReopen("member.role ", setChangingId);
  const changing = data?.data.find(({ userId }) => userId === changingId) ?? null;
  const own = project?.role ?? "viewer";
  const columns = columnsOf({
    myId: me?.id,
    mayManage,
    mayChange: ({ role }) => own === "owner" || role !== "owner",
    onRole: ({ userId }) => setChangingId(userId),
    onRemove: setRemoving,
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
        <Card title="Members" flush>
          {isPending ? (
            <LoadingRows what="members" rows={2} />
          ) : data === undefined ? (
            <ErrorState error={error} onRetry={() => void refetch()} />
          ) : (
            <Table caption="Members" columns={columns} rows={data.data} rowKey={({ userId }) => userId} />
          )}
        </Card>
        {mayManage ? <InvitationsCard /> : null}
      </div>
      <InviteDialog open={inviting} onOpenChange={setInviting} own={own} />
      <RoleDialog member={changing} own={own} onClose={() => setChangingId(null)} />
      <RemoveDialog member={removing} isMe={removing?.userId === me?.id} onClose={() => setRemoving(null)} />
    </>
  );
};
