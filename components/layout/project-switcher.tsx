"use client";

import { Check, ChevronsUpDown, Plus, Users } from "lucide-react";
import dynamic from "next/dynamic";
import Link from "next/link";
import { useState, type ReactNode } from "react";
import {
  chooseProject,
  type Project,
  useProject,
} from "@/components/features/projects/use-project";
import {
  DropdownMenu,
  MenuItem,
  MenuLabel,
  MenuSeparator,
} from "@/components/ui/dropdown-menu";
import { Skeleton } from "@/components/ui/states";

// The dialog is loaded when it opens, because it needs the library of forms.
const NewProjectDialog = dynamic(
  () =>
    import("@/components/features/projects/new-project-dialog").then(
      (module) => module.NewProjectDialog,
    ),
  { ssr: false },
);

interface ProjectItemsProps {
  readonly label: string;
  readonly projects: readonly Project[];
  readonly chosenId: string;
}

const ProjectItems = ({ label, projects, chosenId }: ProjectItemsProps): ReactNode =>
  projects.length === 0 ? null : (
    <>
      <MenuLabel>{label}</MenuLabel>
      {projects.map(({ id, name, role }) => (
        <MenuItem key={id} onSelect={() => chooseProject(id)}>
          <Check aria-hidden className={id === chosenId ? "" : "invisible"} />
          <span className="min-w-0 flex-1 truncate">{name}</span>
          <span className="text-sm text-fg-3">{role}</span>
        </MenuItem>
      ))}
    </>
  );

export const ProjectSwitcher = (): ReactNode => {
  const { project, projects } = useProject();
  const [creating, setCreating] = useState(false);
  // Once opened, the dialog stays mounted, so that it can animate its closing and return the focus.
  const [wasOpened, setWasOpened] = useState(false);
  const open = (): void => {
    setWasOpened(true);
    setCreating(true);
  };
  if (project === undefined)
    return (
      <div className="rounded-control border px-2.5 py-1.5">
        <p className="text-xs text-fg-3">Project</p>
        <Skeleton className="my-0.5 w-24" />
      </div>
    );
  const isOnlyOne = projects.length === 1;
  const joined = projects.filter(({ placeholder }) => isOnlyOne || !placeholder);
  const placeholders = projects.filter((one) => !joined.includes(one));
  return (
    <>
      <DropdownMenu
        align="start"
        trigger={
          <button
            type="button"
            aria-label={`Project ${project.name}`}
            className="flex w-full items-center gap-2 rounded-control border px-2.5 py-1.5 text-left hover:bg-sunken touch-target"
          >
            <span className="min-w-0 flex-1">
              <span className="block text-xs text-fg-3">Project</span>
              <span className="block truncate font-medium">{project.name}</span>
            </span>
            <ChevronsUpDown className="size-4 shrink-0 text-fg-3" aria-hidden />
          </button>
        }
      >
        <ProjectItems label="Projects" projects={joined} chosenId={project.id} />
        <ProjectItems
          label="Made when you signed in"
          projects={placeholders}
          chosenId={project.id}
        />
        <MenuSeparator />
        <MenuItem asChild>
          <Link href="/members">
            <Users aria-hidden /> Members
          </Link>
        </MenuItem>
        <MenuItem onSelect={open}>
          <Plus aria-hidden /> New project
        </MenuItem>
      </DropdownMenu>
      {wasOpened ? (
        <NewProjectDialog open={creating} onClose={() => setCreating(false)} />
      ) : null}
    </>
  );
};
