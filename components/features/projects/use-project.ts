"use client";

import { useEffect } from "react";
import { useMe, type Me } from "@/components/features/profile/use-me";
import { usePreference } from "@/components/ui/preferences";
import { ApiError } from "@/lib/api-client/client";
import { roleMay, type Permission } from "@/lib/core/permissions";
import { chooseProject } from "./chosen-project";

export type Project = Me["projects"][number];

/** The project that this browser works in, and all that the person may choose from; undefined while they are read. */
export const useProject = (): { readonly project: Project | undefined; readonly projects: readonly Project[] } => {
  const { data, error } = useMe();
  const chosen = usePreference("project");
  const isGone = error instanceof ApiError && error.status === 404 && chosen !== null;
  useEffect(() => {
    // The person was removed from the chosen project.
    if (isGone) chooseProject(null);
  }, [isGone]);
  const projects = data?.projects ?? [];
  return { project: projects.find(({ id }) => id === chosen) ?? projects[0], projects };
};

/** Whether the person's role in the project has the permission; false while the role is read. */
export const useMay = (permission: Permission): boolean => {
  const { project } = useProject();
  return project !== undefined && roleMay(project.role, permission);
};
