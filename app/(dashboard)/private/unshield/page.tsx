import type { Metadata } from "next";
import type { ReactNode } from "react";
import { ActionPage } from "@/components/features/private/actions/action-page";

export const metadata: Metadata = { title: "Unshield" };

const Page = (): ReactNode => <ActionPage key="unshield" action="unshield" />;

export default Page;
