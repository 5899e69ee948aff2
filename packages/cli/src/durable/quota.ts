// `bridle runs quota`: what tenants of a store may use.

import type { TenantQuota } from '@bridle/stdlib-tools'
import { CommandError, UsageError } from '../errors.js'
import { tell, tellJson } from '../printable.js'
import type { StoreFlags } from './commands.js'
import { withStore } from './open.js'

export interface QuotaFlags extends StoreFlags {
  readonly running?: number
  readonly parked?: number
  readonly bytes?: number
  readonly submissions?: number
  readonly effects?: number
  readonly weight?: number
  readonly none?: boolean
}

/** Without an amount it only shows; amounts that are not named stay as they were. */
export async function quotaCommand(tenant: string | undefined, flags: QuotaFlags): Promise<number> {
  const { store: file, json, none } = flags
  const given = readQuota(flags)
  if (none === true && Object.keys(given).length > 0) throw new UsageError('give either amounts, or --none')
  return withStore(file, async (store) => {
    if (store.setQuota === undefined || store.quotaOf === undefined)
      throw new CommandError('this store keeps no quotas', { code: 'store_unavailable', file })
    // An unknown tenant shows the default quota.
    const show = (): Promise<TenantQuota> => store.quotaOf!(tenant ?? NOBODY)
    if (none === true) await store.setQuota(tenant ?? null, null)
    else if (Object.keys(given).length > 0) await store.setQuota(tenant ?? null, { ...(await show()), ...given })
    const quota = await show()
    if (json === true) tellJson({ tenant: tenant ?? null, quota })
    else {
      const amounts = Object.entries(quota).map(([name, amount]) => `${name} ${amount}`)
      tell(`${tenant ?? '(every other tenant)'}  ${amounts.length === 0 ? 'no quota' : amounts.join(', ')}\n`)
    }
    return 0
  })
}

const NOBODY = '\u0000'

function readQuota({ running, parked, bytes, submissions, effects, weight }: QuotaFlags): TenantQuota {
  return {
    ...(running === undefined ? {} : { running }),
    ...(parked === undefined ? {} : { parked }),
    ...(bytes === undefined ? {} : { bytes }),
    ...(submissions === undefined ? {} : { submissionsPerSecond: submissions }),
    ...(effects === undefined ? {} : { effectsPerSecond: effects }),
    ...(weight === undefined ? {} : { weight }),
  }
}
