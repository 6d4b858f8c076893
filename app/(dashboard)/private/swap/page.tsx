import type { Metadata } from "next";
import type { ReactNode } from "react";
import { ActionPage } from "@/components/features/private/actions/action-page";

export const metadata: Metadata = { title: "Private swap" };

const Page = (): ReactNode => <ActionPage key="swap" action="swap" />;

export default Page;
