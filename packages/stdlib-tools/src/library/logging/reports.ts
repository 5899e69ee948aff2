// Reports of a script for its host: progress and log lines (library/effects/reports.ts has their shape).

import { defineHostSlot } from '@bridle/vm/families'
import type { Report } from '../effects/index.js'

export type ReportListener = (report: Report) => void

/** Receives each report; null without a listener. */
export const REPORT_LISTENER = defineHostSlot<ReportListener | null>('report_listener', null)
/** Whether reports are printed too. */
export const PRINTS_REPORTS = defineHostSlot('prints_reports', true)
